-- Version 2.

-- Which tools the session's last assembled context had, as a hash: another list stands before the history, so nothing of it is cached.
ALTER TABLE sessions ADD COLUMN tools BLOB CHECK (tools IS NULL OR length(tools) = 32);
