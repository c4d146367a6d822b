-- Short jobs are sent to their center before their units are free, and start there without asking again.

ALTER TABLE attempt
    ADD COLUMN queued_until timestamptz,
    ADD CHECK (queued_until IS NULL OR unit_count = 1);
COMMENT ON COLUMN attempt.queued_until IS 'Not null: it holds no unit yet, and waits at its center for one that is expected to be free then.';
CREATE INDEX attempt_queued ON attempt (unit_type_id, id) WHERE queued_until IS NOT NULL AND state <> 'ended';
