-- What of the units in use has changed since a replica read them: the router keeps them from pass to pass, and reads
-- only that. Numbers in order would not tell, since a transaction with a smaller one may be committed after one with a
-- larger. So each row says which transaction changed it last, and a replica remembers its last snapshot, which says
-- which transactions it has seen. Triggers, so that nobody who changes an attempt can forget to.

LOCK TABLE attempt_queue, attempt IN ACCESS EXCLUSIVE MODE; -- in the order of those who write both
ALTER TABLE attempt ADD COLUMN changed_in xid8 NOT NULL DEFAULT '0';
COMMENT ON COLUMN attempt.changed_in IS 'The transaction that added the attempt, or last changed what it holds, or for how long; 0: before this was noted. In a database that was restored it may be one of another server.';
CREATE INDEX attempt_changed ON attempt (changed_in); -- what changed since a pass of the router
ALTER TABLE attempt_queue ADD COLUMN changed_in xid8 NOT NULL DEFAULT '0';
COMMENT ON COLUMN attempt_queue.changed_in IS 'The transaction that last changed the expected start; else as attempt.changed_in.';
CREATE INDEX attempt_queue_changed ON attempt_queue (changed_in); -- likewise

-- Unlogged: after a crash of the database it is empty. Transactions that were seen may be lost then, and their numbers
-- given again.
CREATE UNLOGGED TABLE attempt_changes_since (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    deleted_in xid8 NOT NULL DEFAULT '0'
);
COMMENT ON TABLE attempt_changes_since IS 'What replicas ask before they believe that changed_in tells all: it does while the id is the same, and no attempts were deleted.';
COMMENT ON COLUMN attempt_changes_since.deleted_in IS 'The transaction that last deleted attempts, since rows that are gone say nothing; else as attempt.changed_in.';
INSERT INTO attempt_changes_since DEFAULT VALUES;

CREATE FUNCTION note_attempt_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.changed_in := pg_current_xact_id();
    RETURN NEW;
END $$;
-- All that the router reads of an attempt.
CREATE TRIGGER note_attempt_change
    BEFORE INSERT OR UPDATE OF job_id, unit_type_id, unit_count, state, created_at, started_at, expected_end_at,
                               queued_until, units, is_exclusive
    ON attempt FOR EACH ROW EXECUTE FUNCTION note_attempt_change();
CREATE TRIGGER note_attempt_queue_row BEFORE INSERT ON attempt_queue FOR EACH ROW EXECUTE FUNCTION note_attempt_change();
-- Its center tells the same again and again.
CREATE TRIGGER note_attempt_queue_change BEFORE UPDATE ON attempt_queue FOR EACH ROW
    WHEN (NEW.expected_start IS DISTINCT FROM OLD.expected_start) EXECUTE FUNCTION note_attempt_change();

CREATE FUNCTION note_attempt_deletion() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO attempt_changes_since AS s (deleted_in) VALUES (pg_current_xact_id())
    ON CONFLICT (is_only) DO UPDATE SET deleted_in = excluded.deleted_in WHERE s.deleted_in <> excluded.deleted_in;
    RETURN NULL;
END $$;
CREATE TRIGGER note_attempt_deletion AFTER DELETE OR TRUNCATE ON attempt
    FOR EACH STATEMENT EXECUTE FUNCTION note_attempt_deletion();
