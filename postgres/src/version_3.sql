-- Version 3.

-- Tokens of the messages that our assembly handed over just for this call, as counted here; NULL where it was not the first one behind it.
ALTER TABLE requests ADD COLUMN counted BIGINT;
-- By how many tokens the session's requests differed so far, as the provider counted and as we did; NULL where no assembly of ours is known.
ALTER TABLE requests ADD COLUMN weighed_told BIGINT;
ALTER TABLE requests ADD COLUMN weighed_counted BIGINT;
-- How many more tokens it would have had without us if the host had never compacted.
ALTER TABLE requests ADD COLUMN dropped BIGINT NOT NULL DEFAULT 0;
-- How much less and more the bill without us may have been, in input tokens.
ALTER TABLE requests ADD COLUMN without_under DOUBLE PRECISION NOT NULL DEFAULT 0;
ALTER TABLE requests ADD COLUMN without_over DOUBLE PRECISION NOT NULL DEFAULT 0;
-- The answer: its tokens, and its bill in input tokens; NULL where nobody said.
ALTER TABLE requests ADD COLUMN answered BIGINT;
ALTER TABLE requests ADD COLUMN answer_bill DOUBLE PRECISION;

ALTER TABLE swept_requests ADD COLUMN bypassed BIGINT NOT NULL DEFAULT 0;
ALTER TABLE swept_requests ADD COLUMN compacting BIGINT NOT NULL DEFAULT 0;
ALTER TABLE swept_requests ADD COLUMN answered BIGINT NOT NULL DEFAULT 0;
ALTER TABLE swept_requests ADD COLUMN answer_tokens BIGINT NOT NULL DEFAULT 0;
ALTER TABLE swept_requests ADD COLUMN unpriced_answers BIGINT NOT NULL DEFAULT 0;
ALTER TABLE swept_requests ADD COLUMN under_bill DOUBLE PRECISION NOT NULL DEFAULT 0;
ALTER TABLE swept_requests ADD COLUMN over_bill DOUBLE PRECISION NOT NULL DEFAULT 0;
ALTER TABLE swept_requests ADD COLUMN answer_bill DOUBLE PRECISION NOT NULL DEFAULT 0;
ALTER TABLE swept_requests ADD COLUMN without_answer_bill DOUBLE PRECISION NOT NULL DEFAULT 0;
ALTER TABLE swept_requests ADD COLUMN under_usd DOUBLE PRECISION NOT NULL DEFAULT 0;
ALTER TABLE swept_requests ADD COLUMN over_usd DOUBLE PRECISION NOT NULL DEFAULT 0;
ALTER TABLE swept_requests ADD COLUMN answer_usd DOUBLE PRECISION NOT NULL DEFAULT 0;
ALTER TABLE swept_requests ADD COLUMN without_answer_usd DOUBLE PRECISION NOT NULL DEFAULT 0;
