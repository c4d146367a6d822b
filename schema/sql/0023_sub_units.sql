-- R8: sub-units, the parts that units are made of, go from center to center. What each center has, who asked for what,
-- who got what from whom, and a record of every change.

CREATE TABLE sub_unit_kind (
    kind text PRIMARY KEY CHECK (length(kind) BETWEEN 1 AND 64)
);
COMMENT ON TABLE sub_unit_kind IS 'Kinds of sub-units. Whoever changes anything of a kind locks its row first.';

CREATE TABLE sub_unit_holding (
    kind text NOT NULL REFERENCES sub_unit_kind (kind),
    center_id text NOT NULL REFERENCES center (id),
    unit_type text NOT NULL,
    sub_units_per_unit bigint NOT NULL CHECK (sub_units_per_unit >= 1),
    reported_count bigint NOT NULL CHECK (reported_count >= 0),
    registered_count bigint NOT NULL CHECK (registered_count >= 0),
    most_count bigint NOT NULL CHECK (most_count >= 0),
    held_count bigint NOT NULL CHECK (held_count >= 0),
    target_held bigint NOT NULL,
    target_offered bigint NOT NULL,
    version bigint NOT NULL,
    reached_version bigint NOT NULL,
    PRIMARY KEY (kind, center_id),
    CHECK (target_held BETWEEN 0 AND held_count),
    CHECK (target_offered BETWEEN 0 AND target_held),
    CHECK (reached_version <= version)
);
COMMENT ON TABLE sub_unit_holding IS 'What a center has of a kind of sub-units.';
COMMENT ON COLUMN sub_unit_holding.unit_type IS 'Name of the unit type whose units are made of them.';
COMMENT ON COLUMN sub_unit_holding.reported_count IS 'What the center''s settings say that it brings into the network.';
COMMENT ON COLUMN sub_unit_holding.registered_count IS 'The same as far as it counts: a smaller one counts once the center has so many to take away.';
COMMENT ON COLUMN sub_unit_holding.most_count IS 'What the center''s machines could have.';
COMMENT ON COLUMN sub_unit_holding.held_count IS 'The most that the center may be using. Over the centers, with what is free, it is what is registered.';
COMMENT ON COLUMN sub_unit_holding.target_held IS 'What the center is told to have; fewer than held_count until it has given the others up.';
COMMENT ON COLUMN sub_unit_holding.target_offered IS 'What of that jobs may be placed on.';
COMMENT ON COLUMN sub_unit_holding.version IS 'Of the target; grows with each change of it.';
COMMENT ON COLUMN sub_unit_holding.reached_version IS 'Of the last target that the center said to have reached. Smaller than version: a change is under way.';
CREATE INDEX sub_unit_holding_center ON sub_unit_holding (center_id); -- what a center is told

CREATE TABLE sub_unit_request (
    id text PRIMARY KEY,
    turn bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    kind text NOT NULL,
    center_id text NOT NULL,
    action text NOT NULL CHECK (action IN ('release', 'gain')),
    count bigint NOT NULL CHECK (count > 0),
    granted_count bigint NOT NULL DEFAULT 0 CHECK (granted_count BETWEEN 0 AND count),
    free_count bigint NOT NULL DEFAULT 0 CHECK (free_count BETWEEN 0 AND count),
    state text NOT NULL DEFAULT 'waiting'
        CHECK (state IN ('waiting', 'draining', 'giving', 'done', 'refused', 'cancelled')),
    version bigint,
    reason text NOT NULL,
    asked_by text NOT NULL,
    message_id text,
    undo_of text,
    created_at timestamptz NOT NULL DEFAULT now(),
    ended_at timestamptz,
    end_reason text NOT NULL DEFAULT '',
    FOREIGN KEY (kind, center_id) REFERENCES sub_unit_holding (kind, center_id),
    CHECK (free_count = 0 OR (action = 'release' AND state = 'done')),
    CHECK ((ended_at IS NULL) = (state IN ('waiting', 'draining', 'giving')))
);
COMMENT ON TABLE sub_unit_request IS 'Who asked to give up or to gain sub-units.';
COMMENT ON COLUMN sub_unit_request.turn IS 'In the order of asking.';
COMMENT ON COLUMN sub_unit_request.granted_count IS 'Of a gain: what it has got so far. Of a release: what of it others have got.';
COMMENT ON COLUMN sub_unit_request.free_count IS 'Of a release: given up, and nobody''s yet.';
COMMENT ON COLUMN sub_unit_request.state IS 'draining: no new jobs are placed on them. giving: the center is told to give them up.';
COMMENT ON COLUMN sub_unit_request.version IS 'Of the holding''s target that it waits for.';
COMMENT ON COLUMN sub_unit_request.asked_by IS 'Token id of a person, or the center''s id.';
COMMENT ON COLUMN sub_unit_request.message_id IS 'Of the agent''s last message that asked for it; messages may come twice.';
COMMENT ON COLUMN sub_unit_request.undo_of IS 'The grant that this release takes back; what it frees goes to where that came from.';
CREATE UNIQUE INDEX sub_unit_request_message ON sub_unit_request (center_id, message_id) WHERE message_id IS NOT NULL;
-- A center has one wish of a kind at a time: several would outweigh those of others.
CREATE UNIQUE INDEX sub_unit_request_open ON sub_unit_request (kind, center_id)
    WHERE state IN ('waiting', 'draining', 'giving') AND undo_of IS NULL;
CREATE UNIQUE INDEX sub_unit_request_undo ON sub_unit_request (undo_of) WHERE state NOT IN ('refused', 'cancelled');
CREATE INDEX sub_unit_request_live ON sub_unit_request (kind)
    WHERE state IN ('waiting', 'draining', 'giving') OR free_count > 0; -- what the broker works on
CREATE INDEX sub_unit_request_center ON sub_unit_request (center_id, id); -- lists

CREATE TABLE sub_unit_grant (
    id text PRIMARY KEY,
    kind text NOT NULL REFERENCES sub_unit_kind (kind),
    release_id text NOT NULL REFERENCES sub_unit_request (id),
    request_id text REFERENCES sub_unit_request (id),
    from_center_id text NOT NULL REFERENCES center (id),
    to_center_id text NOT NULL REFERENCES center (id),
    count bigint NOT NULL CHECK (count > 0),
    state text NOT NULL DEFAULT 'moving' CHECK (state IN ('moving', 'granted', 'refused', 'undone')),
    version bigint NOT NULL,
    undo_of text REFERENCES sub_unit_grant (id),
    created_at timestamptz NOT NULL DEFAULT now(),
    ended_at timestamptz,
    end_reason text NOT NULL DEFAULT ''
);
COMMENT ON TABLE sub_unit_grant IS 'Sub-units that go from the center that gave them up to another.';
COMMENT ON COLUMN sub_unit_grant.request_id IS 'The gain that it serves; NULL: an undo brings them back.';
COMMENT ON COLUMN sub_unit_grant.state IS 'moving: the gaining center is told. granted: it has them. refused: it could not take them. undone: they went back.';
COMMENT ON COLUMN sub_unit_grant.version IS 'Of the gaining center''s target that has them.';
CREATE INDEX sub_unit_grant_moving ON sub_unit_grant (kind, to_center_id) WHERE state = 'moving'; -- until they are there
CREATE INDEX sub_unit_grant_kind ON sub_unit_grant (kind, id); -- lists

CREATE TABLE sub_unit_event (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT now(),
    kind text NOT NULL,
    center_id text NOT NULL REFERENCES center (id),
    event text NOT NULL CHECK (event IN ('registered', 'asked', 'draining', 'giving', 'released', 'granted', 'gained',
                                         'refused', 'cancelled', 'undone')),
    count bigint NOT NULL,
    held_count bigint NOT NULL,
    actor text NOT NULL,
    request_id text,
    grant_id text,
    detail text NOT NULL
);
COMMENT ON TABLE sub_unit_event IS 'Every change of sub-units, by whom and why. Rows are only added.';
COMMENT ON COLUMN sub_unit_event.held_count IS 'sub_unit_holding.held_count of that center after it.';
COMMENT ON COLUMN sub_unit_event.actor IS 'Token id of a person, center id, or "broker".';
CREATE INDEX sub_unit_event_kind ON sub_unit_event (kind, id); -- lists
CREATE TRIGGER sub_unit_event_is_final BEFORE UPDATE OR DELETE OR TRUNCATE ON sub_unit_event EXECUTE FUNCTION refuse_change();

-- Whatever a program does: at the end of each transaction centers have, with what is free, just what is registered.
CREATE FUNCTION check_sub_unit_sum() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (SELECT coalesce(sum(held_count), 0) - coalesce(sum(registered_count), 0) FROM sub_unit_holding
        WHERE kind = NEW.kind)
       + (SELECT coalesce(sum(free_count), 0) FROM sub_unit_request WHERE kind = NEW.kind AND free_count > 0) <> 0 THEN
        RAISE EXCEPTION 'sub-units of kind % would be more or fewer than are registered', NEW.kind
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER sub_unit_holding_sum AFTER INSERT OR UPDATE ON sub_unit_holding
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_sub_unit_sum();
CREATE CONSTRAINT TRIGGER sub_unit_request_sum AFTER INSERT OR UPDATE ON sub_unit_request
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_sub_unit_sum();
