-- Version 2: commits are one round trip. What version 1 has stays as it is.

-- Ends a transaction that found untrue what it was made for. Which reasons there are, src/refusal.rs knows.
CREATE FUNCTION refuse(reason TEXT, subject TEXT) RETURNS BOOLEAN LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION USING ERRCODE = 'CT001', MESSAGE = reason, DETAIL = subject;
END
$$;
