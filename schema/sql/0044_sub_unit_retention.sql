-- Ended requests and grants of sub-units and the record of their changes are removed when they are old
-- (server/retention).

-- No row of the record is ever changed, as before; old ones may go. keep_sub_units_days is 30 at least: a day is left for
-- clocks that differ.
DROP TRIGGER sub_unit_event_is_final ON sub_unit_event;
CREATE TRIGGER sub_unit_event_is_final BEFORE UPDATE OR TRUNCATE ON sub_unit_event EXECUTE FUNCTION refuse_change();
CREATE TRIGGER sub_unit_event_is_kept BEFORE DELETE ON sub_unit_event FOR EACH ROW
    WHEN (OLD.at > now() - interval '29 days') EXECUTE FUNCTION refuse_change();
COMMENT ON TABLE sub_unit_event IS 'Every change of sub-units, by whom and why. Rows are added, never changed, and kept for four weeks at least.';

CREATE INDEX sub_unit_request_ended ON sub_unit_request (ended_at, id)
    WHERE free_count = 0 AND ended_at IS NOT NULL;                                                     -- retention: old enough
CREATE INDEX sub_unit_grant_ended ON sub_unit_grant (ended_at, id) WHERE state <> 'moving';            -- the same
CREATE INDEX sub_unit_event_at ON sub_unit_event (at, id);                                             -- the same
CREATE INDEX sub_unit_grant_release ON sub_unit_grant (release_id);                                    -- removal of a request: what refers to it
CREATE INDEX sub_unit_grant_request ON sub_unit_grant (request_id) WHERE request_id IS NOT NULL;       -- the same
CREATE INDEX sub_unit_grant_undo ON sub_unit_grant (undo_of) WHERE undo_of IS NOT NULL;                -- removal of a grant: what refers to it
