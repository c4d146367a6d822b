-- Outputs of jobs that their centers have stored elsewhere.
ALTER TABLE attempt ADD COLUMN outputs jsonb NOT NULL DEFAULT '[]';
COMMENT ON COLUMN attempt.outputs IS 'What was stored when it ended: a list of path, size_bytes and sha256; where to is in the job''s specification.';
