-- Who may submit to a project, and who may reserve for it.

CREATE TABLE project_member (
    project text NOT NULL REFERENCES project (name),
    token_id text NOT NULL REFERENCES api_token (id),
    reserve_unit_hours double precision NOT NULL DEFAULT 0
        CHECK (reserve_unit_hours >= 0 AND reserve_unit_hours < 'infinity'),
    added_at timestamptz NOT NULL DEFAULT now(),
    added_by text NOT NULL,
    PRIMARY KEY (project, token_id)
);
COMMENT ON TABLE project_member IS 'Tokens that may submit to a project. A project without any is open to everybody who may submit jobs.';
COMMENT ON COLUMN project_member.reserve_unit_hours IS 'Units x hours that lie ahead, of all reservations that the token holds open for the project; 0: it may not reserve.';
