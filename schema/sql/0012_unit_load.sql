-- What routers learn of load is kept here, so that all of them, and one that has just started, decide alike.

CREATE TABLE unit_load (
    unit_type_id text PRIMARY KEY REFERENCES unit_type (id) ON DELETE CASCADE,
    busy_share double precision NOT NULL CHECK (busy_share BETWEEN 0 AND 1),
    used_share double precision CHECK (used_share BETWEEN 0 AND 1),
    noted_at timestamptz NOT NULL,
    worth double precision
);
COMMENT ON TABLE unit_load IS 'How busy the units of each type have been of late, and what they are worth to the jobs that come.';
COMMENT ON COLUMN unit_load.busy_share IS 'At noted_at: the mean share in use, in which what was counts e times less a day later.';
COMMENT ON COLUMN unit_load.used_share IS 'In use since noted_at; null: it takes no work, so that nothing can be said.';
COMMENT ON COLUMN unit_load.worth IS 'Against the mean of the network, 1, by the newest jobs; null: none of them could go there.';

CREATE TABLE unit_load_look (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    looked_at timestamptz,
    newest_job text NOT NULL DEFAULT ''
);
COMMENT ON TABLE unit_load_look IS 'When unit_load was brought up to date last, and the newest job that its worths know. One row.';
INSERT INTO unit_load_look DEFAULT VALUES;
