-- One step of growing a store: originals $from + 1 to $to, a hundred per session, with the rows that sessions have
-- besides their originals. Their numbers are those measured under load: `load --server` prints rows for each 1,000
-- originals.
--
-- In the order of the hashes, so that each page of an index is written once per step. Ids grow in the same order.
SET LOCAL session_replication_role = replica; -- the rows that the foreign keys refer to exist
SET LOCAL synchronous_commit = off;

INSERT INTO sessions (id, session, agent, session_id, agent_id, last_seen, held) OVERRIDING SYSTEM VALUE
  SELECT i, sha256(convert_to('session ' || i, 'UTF8')), sha256('main'), 'session ' || i, 'main', :now, false
  FROM generate_series(:from / 100 + 1, :to / 100) AS i;

INSERT INTO originals (id, hash, ref_id, label, size, is_zstd, payload) OVERRIDING SYSTEM VALUE
  SELECT :from + row_number() OVER (ORDER BY hash), hash, substr(encode(hash, 'hex'), 1, 16), 'a label of some thirty characters', length(payload), false, payload
  FROM (SELECT sha256(payload) AS hash, payload
        FROM (SELECT convert_to(rpad('original ' || i || ' ', 100, 'what a tool printed '), 'UTF8') AS payload
              FROM generate_series(:from + 1, :to) AS i) AS texts) AS hashed
  ORDER BY hash;

INSERT INTO grants (session, original, granted_at)
  SELECT (id - 1) / 100 + 1, id, :now FROM generate_series(:from + 1, :to) AS id;

INSERT INTO printed (session, text, is_answer, original, saved)
  SELECT (id - 1) / 100 + 1, sha256(int8send(id)), true, id, 100 FROM generate_series(:from + 1, :to) AS id WHERE id % 10 < 6;

INSERT INTO projections (session, block, place, replacement, original, reason)
  SELECT (id - 1) / 100 + 1, sha256(int8send(id)), 7, '"' || repeat('shown instead ', 10) || '"', id, 'stale'
  FROM generate_series(:from + 1, :to) AS id WHERE id % 10 >= 5;

INSERT INTO receipts (session, at, kind, tokens_before, tokens_after, detail)
  SELECT (id - 1) / 100 + 1, :now, 'admit', 200, 100, repeat('{"reason":"shortened"}', 6)
  FROM generate_series(:from + 1, :to) AS id WHERE id % 10 < 4;

INSERT INTO requests (session, at, is_measured, sent, without, dropped, overhead, fetched, sent_bill, without_bill,
    without_under, without_over)
  SELECT (id - 1) / 100 + 1, :now - id % 2592000 * 1000::bigint, true, 20000, 40000, 0, 500, 0, 2500, 5000, 0, 0
  FROM generate_series(:from + 1, :to) AS id, generate_series(1, 2);

INSERT INTO turns
  SELECT (id - 1) / 100 + 1, sha256(convert_to('turn:' || id, 'UTF8')), 'turn:' || id, :now
  FROM generate_series(:from + 1, :to) AS id WHERE id % 5 = 0;
INSERT INTO fetches (session, at, ref_id, tokens)
  SELECT (id - 1) / 100 + 1, :now, '0123456789abcdef', 500 FROM generate_series(:from + 1, :to) AS id WHERE id % 5 = 0;
INSERT INTO epochs (session, at, reason, tokens_freed, tokens_rebilled, blocks)
  SELECT (id - 1) / 100 + 1, :now, 'bound', 1000, 5000, 10 FROM generate_series(:from + 1, :to) AS id WHERE id % 100 = 0;
INSERT INTO folded
  SELECT i, :now / 86400000, kind, 20000, 10000 FROM generate_series(:from / 100 + 1, :to / 100) AS i, unnest(ARRAY['a', 'b']) AS kind;
INSERT INTO usage SELECT 1000, 100000 FROM generate_series(:from / 1000 + 1, :to / 1000);
