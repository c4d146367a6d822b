-- M9: what administrators want centers to offer, how far each is with it, and what centers' own changes were.

CREATE TABLE center_resources (
    center_id text PRIMARY KEY REFERENCES center (id),
    version bigint NOT NULL CHECK (version >= 1),
    unit_types jsonb NOT NULL,
    changed_at timestamptz NOT NULL DEFAULT now(),
    changed_by text NOT NULL
);
COMMENT ON TABLE center_resources IS 'What a center is to offer. No row: as its agent''s own file says.';
COMMENT ON COLUMN center_resources.version IS 'One more with each change; the agent names it when it answers.';
COMMENT ON COLUMN center_resources.unit_types IS 'An array (core/model/unit_cut.hpp); empty: as the agent''s own file says.';
COMMENT ON COLUMN center_resources.changed_by IS 'Token id.';

CREATE TABLE center_resource_state (
    center_id text PRIMARY KEY REFERENCES center (id),
    version bigint NOT NULL,
    state text NOT NULL CHECK (octet_length(state) <= 32),
    detail text NOT NULL,
    permission text NOT NULL,
    differences jsonb NOT NULL,
    reported_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE center_resource_state IS
    'What a center''s agent last said in this connection or the one before; no row: it has said nothing since it connected.';
COMMENT ON COLUMN center_resource_state.version IS 'Of center_resources that it is about; 0: of the agent''s own file.';
COMMENT ON COLUMN center_resource_state.differences IS 'An array (core/model/resources.hpp).';

CREATE TABLE center_change (
    id bigint GENERATED ALWAYS AS IDENTITY,
    center_id text NOT NULL REFERENCES center (id),
    changed_at timestamptz NOT NULL DEFAULT now(),
    change text NOT NULL CHECK (octet_length(change) BETWEEN 1 AND 2000),
    PRIMARY KEY (center_id, id)
);
COMMENT ON TABLE center_change IS 'How what centers offer has changed, newest 100 of each center.';
COMMENT ON COLUMN center_change.change IS 'For people: "gpu: 7 units, were 8; unit type old is gone".';
