-- Exports of billing that are written by the clock, to a folder of the server's or to an object store.
CREATE TABLE export_schedule (
    id text PRIMARY KEY,
    name text NOT NULL UNIQUE,
    cron text NOT NULL,
    format text NOT NULL,
    months text NOT NULL CHECK (months IN ('previous', 'current', 'all')),
    parameters jsonb NOT NULL,
    destination text NOT NULL,
    enabled boolean NOT NULL DEFAULT true,
    version bigint NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL DEFAULT now(),
    created_by text NOT NULL,
    due_at timestamptz,
    next_run_at timestamptz,
    failures integer NOT NULL DEFAULT 0,
    last_run_at timestamptz,
    last_file text NOT NULL DEFAULT '',
    last_error text NOT NULL DEFAULT '',
    claimed_until timestamptz
);
COMMENT ON COLUMN export_schedule.cron IS 'Five fields in UTC: minute, hour, day of month, month, day of week; or @every and seconds.';
COMMENT ON COLUMN export_schedule.months IS 'Which month a run exports, seen from due_at; all: everything until then.';
COMMENT ON COLUMN export_schedule.parameters IS 'Of GET /exports/{format}, but for those that say a time.';
COMMENT ON COLUMN export_schedule.destination IS '"folder", or s3://BUCKET/PREFIX.';
COMMENT ON COLUMN export_schedule.due_at IS 'The moment by its cron text that the next run is for; null while it is not enabled.';
COMMENT ON COLUMN export_schedule.next_run_at IS 'When it is run: due_at, or later where runs for it have failed.';
COMMENT ON COLUMN export_schedule.failures IS 'Runs for due_at that have failed.';
COMMENT ON COLUMN export_schedule.claimed_until IS 'Until then a replica writes it; later another one may, because that one is gone.';
CREATE INDEX export_schedule_due ON export_schedule (next_run_at) WHERE enabled; -- the runner looks for them
