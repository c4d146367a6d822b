-- Retention deletes attempts that ended long ago. Whoever has seen them end need not hear of it, so a replica reads all
-- attempts in use again only where one was deleted before it can have seen how it last changed.

LOCK TABLE attempt IN ACCESS EXCLUSIVE MODE;
ALTER TABLE attempt_changes_since ADD COLUMN deleted_change xid8 NOT NULL DEFAULT '0';
COMMENT ON TABLE attempt_changes_since IS 'What replicas ask before they believe that changed_in tells all: it does while the id is the same, and no attempts were deleted whose last change they have not seen.';
COMMENT ON COLUMN attempt_changes_since.deleted_change IS 'The newest of: attempt.changed_in of attempts that were deleted after they had ended, and deletions of others.';

DROP TRIGGER note_attempt_deletion ON attempt;
CREATE OR REPLACE FUNCTION note_attempt_deletion() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    last_change xid8;
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        last_change := pg_current_xact_id();
    ELSE
        -- A number of the future is one of the server from which this database was restored: nobody here knew the
        -- attempt before it ended.
        SELECT CASE WHEN g.state = 'ended' THEN g.changed_in ELSE pg_current_xact_id() END AS change INTO last_change
        FROM gone g
        WHERE g.state <> 'ended' OR g.changed_in = pg_current_xact_id()
           OR g.changed_in < pg_snapshot_xmax(pg_current_snapshot())
        ORDER BY change DESC LIMIT 1;
    END IF;
    IF last_change IS NOT NULL THEN
        INSERT INTO attempt_changes_since AS s (deleted_in, deleted_change) VALUES (pg_current_xact_id(), last_change)
        ON CONFLICT (is_only) DO UPDATE SET deleted_in = excluded.deleted_in,
                                            deleted_change = greatest(s.deleted_change, excluded.deleted_change)
        WHERE s.deleted_in <> excluded.deleted_in OR s.deleted_change < excluded.deleted_change;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER note_attempt_deletion AFTER DELETE ON attempt
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION note_attempt_deletion();
CREATE TRIGGER note_attempt_truncation AFTER TRUNCATE ON attempt
    FOR EACH STATEMENT EXECUTE FUNCTION note_attempt_deletion();
