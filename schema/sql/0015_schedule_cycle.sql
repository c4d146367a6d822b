-- What schedulers decided on, so that each cycle can be decided again (docs/routing.md "Decided again").

CREATE TABLE schedule_part (
    hash text PRIMARY KEY,
    body bytea NOT NULL,
    bytes bigint NOT NULL CHECK (bytes >= 0),
    last_used_at timestamptz NOT NULL DEFAULT now()
);
ALTER TABLE schedule_part ALTER COLUMN body SET STORAGE EXTERNAL; -- it is compressed already
COMMENT ON TABLE schedule_part IS 'Parts of catalogs that cycles were decided on, each once, by the SHA-256 of what it contains before it is compressed. A catalog is the part that lists its others.';
COMMENT ON COLUMN schedule_part.last_used_at IS 'No cycle that was decided more than half an hour later refers to it.';

CREATE TABLE schedule_cycle (
    id text PRIMARY KEY,
    decided_at timestamptz NOT NULL,
    decided_by text NOT NULL,
    job_count bigint NOT NULL CHECK (job_count >= 0),
    start_count bigint NOT NULL CHECK (start_count >= 0),
    currency text NOT NULL,
    catalog text NOT NULL,
    input bytea NOT NULL,
    plan bytea NOT NULL,
    bytes bigint NOT NULL CHECK (bytes >= 0)
);
ALTER TABLE schedule_cycle ALTER COLUMN input SET STORAGE EXTERNAL;
ALTER TABLE schedule_cycle ALTER COLUMN plan SET STORAGE EXTERNAL;
COMMENT ON TABLE schedule_cycle IS 'Scheduling cycles: what each decided on, and its plan (core/schedule/cycle_document, cycle_plan), compressed.';
COMMENT ON COLUMN schedule_cycle.catalog IS 'Hash of the schedule_part that lists the parts of its catalog.';
COMMENT ON COLUMN schedule_cycle.bytes IS 'Of input and plan, compressed.';
CREATE INDEX schedule_cycle_by_age ON schedule_cycle (decided_at, id); -- retention: the oldest; the list: the newest

ALTER TABLE placement ADD COLUMN cycle_id text;
COMMENT ON COLUMN placement.cycle_id IS 'The schedule_cycle in which it was decided, which may be gone; null: none was kept.';
