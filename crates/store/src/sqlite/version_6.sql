-- Version 6.

-- Tokens of the messages that our assembly handed over just for this call, as counted here; NULL where it was not the first one behind it.
ALTER TABLE requests ADD COLUMN counted INTEGER;
-- By how many tokens the session's requests differed so far, as the provider counted and as we did; NULL where no assembly of ours is known.
ALTER TABLE requests ADD COLUMN weighed_told INTEGER;
ALTER TABLE requests ADD COLUMN weighed_counted INTEGER;
-- How many more tokens it would have had without us if the host had never compacted.
ALTER TABLE requests ADD COLUMN dropped INTEGER NOT NULL DEFAULT 0;
-- How much less and more the bill without us may have been, in input tokens.
ALTER TABLE requests ADD COLUMN without_under REAL NOT NULL DEFAULT 0;
ALTER TABLE requests ADD COLUMN without_over REAL NOT NULL DEFAULT 0;
-- The answer: its tokens, and its bill in input tokens; NULL where nobody said.
ALTER TABLE requests ADD COLUMN answered INTEGER;
ALTER TABLE requests ADD COLUMN answer_bill REAL;

ALTER TABLE swept_requests ADD COLUMN bypassed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE swept_requests ADD COLUMN compacting INTEGER NOT NULL DEFAULT 0;
ALTER TABLE swept_requests ADD COLUMN answered INTEGER NOT NULL DEFAULT 0;
ALTER TABLE swept_requests ADD COLUMN answer_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE swept_requests ADD COLUMN unpriced_answers INTEGER NOT NULL DEFAULT 0;
ALTER TABLE swept_requests ADD COLUMN under_bill REAL NOT NULL DEFAULT 0;
ALTER TABLE swept_requests ADD COLUMN over_bill REAL NOT NULL DEFAULT 0;
ALTER TABLE swept_requests ADD COLUMN answer_bill REAL NOT NULL DEFAULT 0;
ALTER TABLE swept_requests ADD COLUMN without_answer_bill REAL NOT NULL DEFAULT 0;
ALTER TABLE swept_requests ADD COLUMN under_usd REAL NOT NULL DEFAULT 0;
ALTER TABLE swept_requests ADD COLUMN over_usd REAL NOT NULL DEFAULT 0;
ALTER TABLE swept_requests ADD COLUMN answer_usd REAL NOT NULL DEFAULT 0;
ALTER TABLE swept_requests ADD COLUMN without_answer_usd REAL NOT NULL DEFAULT 0;
