-- Measurement that can be checked: drawn sizes, verification, findings, schedules and budgets of probes.

ALTER TABLE probe_run
    ADD COLUMN document jsonb,
    ADD COLUMN order_id text NOT NULL DEFAULT '',
    ADD COLUMN able_unit_types text[] NOT NULL DEFAULT '{}',
    ADD COLUMN seen_s double precision,
    ADD COLUMN count_by text NOT NULL DEFAULT 'order' CHECK (count_by IN ('order', 'scaling', 'center')),
    ADD COLUMN repeats_run_id text REFERENCES probe_run (id),
    ADD COLUMN verification text NOT NULL DEFAULT 'none' CHECK (verification IN ('none', 'pending', 'right', 'wrong', 'impossible')),
    ADD COLUMN verification_detail text NOT NULL DEFAULT '',
    ADD COLUMN verified_at timestamptz;
COMMENT ON COLUMN probe_run.document IS 'The task as it was sent: seed and drawn sizes. The operators stand in the order of the probe task''s. Null in rows older than this column.';
COMMENT ON COLUMN probe_run.order_id IS 'Runs of one order share it, and with it the seed: their results can be compared (M12). It is the id of the order''s first run.';
COMMENT ON COLUMN probe_run.able_unit_types IS 'M18: names of all unit types of the center that could have run the task, as the center said; empty when it was not asked.';
COMMENT ON COLUMN probe_run.seen_s IS 'By our own clock: from the report of its start to the report of its end. Null: the link broke in between, or older.';
COMMENT ON COLUMN probe_run.count_by IS 'M14: who chose unit_count. scaling: counts that tell models of scaling apart; center: the center took what was free.';
COMMENT ON COLUMN probe_run.repeats_run_id IS 'The run whose place this one takes, because its center lost it.';
COMMENT ON COLUMN probe_run.verification IS 'Whether the metascheduler computed the same itself. none: not chosen. impossible: it lacks the operator or the memory.';

ALTER TABLE probe_run DROP CONSTRAINT probe_run_selection_check;
ALTER TABLE probe_run ADD CONSTRAINT probe_run_selection_check
    CHECK (selection IN ('catalog', 'ask', 'user', 'center'));
COMMENT ON COLUMN probe_run.selection IS 'M13: how the units were chosen. catalog: (a); ask: (b); user: (c); center: (d).';
ALTER TABLE probe_run DROP CONSTRAINT probe_run_unit_count_check;
ALTER TABLE probe_run ADD CONSTRAINT probe_run_unit_count_check CHECK (unit_count >= 0);
COMMENT ON COLUMN probe_run.unit_count IS 'M14. 0: left to the center; once the run has succeeded, how many it took.';
ALTER TABLE probe_run DROP CONSTRAINT probe_run_state_check;
ALTER TABLE probe_run ADD CONSTRAINT probe_run_state_check
    CHECK (state IN ('queued', 'succeeded', 'failed', 'cancelled', 'lost'));
COMMENT ON COLUMN probe_run.state IS 'lost: the center fell silent while it ran; another run repeats it.';
CREATE UNIQUE INDEX probe_run_repeats ON probe_run (repeats_run_id) WHERE repeats_run_id IS NOT NULL; -- once
CREATE INDEX probe_run_to_verify ON probe_run (id) WHERE verification = 'pending'; -- the verifying duty
CREATE INDEX probe_run_of_order ON probe_run (order_id) WHERE order_id <> '';      -- one order's report
CREATE INDEX probe_run_of_task ON probe_run (probe_task_id, id DESC);              -- when a task last ran where

ALTER TABLE measurement
    ADD COLUMN drawn jsonb,
    ADD COLUMN disturbed_count integer NOT NULL DEFAULT 0,
    ADD COLUMN void_reason text NOT NULL DEFAULT '';
COMMENT ON COLUMN measurement.parameters IS 'The size that the figures are for. Times were measured at `drawn` and scaled to it by the ratio of work.';
COMMENT ON COLUMN measurement.drawn IS 'The size that really ran; null: the same.';
COMMENT ON COLUMN measurement.disturbed_count IS 'Samples that something else on the machine disturbed; marked, kept.';
COMMENT ON COLUMN measurement.void_reason IS 'Not empty: found to be false after it was stored. It stays readable and is used for nothing.';
DROP INDEX measurement_newest;
CREATE INDEX measurement_newest ON measurement (unit_type_id, unit_count, operator_id, parameters_key, measured_at DESC)
    WHERE void_reason = ''; -- the snapshot
CREATE INDEX measurement_transfers ON measurement (unit_type_id, measured_at)
    WHERE operator_id = 'network_fetch' AND void_reason = ''; -- network windows
CREATE INDEX measurement_of_operator ON measurement (operator_id) WHERE void_reason = ''; -- which operators some unit type was measured with

CREATE TABLE center_question (
    id text PRIMARY KEY,
    center_id text NOT NULL REFERENCES center (id),
    operators jsonb NOT NULL,
    expires_at timestamptz NOT NULL,
    answer jsonb,
    refusal text NOT NULL DEFAULT ''
);
COMMENT ON TABLE center_question IS 'M13b: which unit types can run these operators? One row a center that is asked, read by the replica that has its agent''s connection, removed by the one that asked.';
CREATE INDEX center_question_open ON center_question (center_id) WHERE answer IS NULL AND refusal = ''; -- a session that is woken

CREATE TABLE probe_finding (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    center_id text NOT NULL REFERENCES center (id),
    unit_type_id text REFERENCES unit_type (id),
    probe_run_id text REFERENCES probe_run (id),
    kind text NOT NULL CHECK (kind IN ('checksum', 'clock', 'rate', 'wrong_result', 'nonsense', 'late', 'doubled', 'version')),
    detail text NOT NULL,
    evidence jsonb NOT NULL DEFAULT '{}',
    found_at timestamptz NOT NULL DEFAULT now(),
    dismissed_at timestamptz,
    dismissed_by text,
    CHECK ((dismissed_at IS NULL) = (dismissed_by IS NULL))
);
COMMENT ON TABLE probe_finding IS 'Why a result of a center was kept apart. checksum, clock and rate cannot come about honestly, and cost trust until an expert dismisses them.';
CREATE INDEX probe_finding_open ON probe_finding (unit_type_id) WHERE dismissed_at IS NULL; -- trust
CREATE INDEX probe_finding_of_center ON probe_finding (center_id, id DESC);                 -- lists filtered by center

CREATE TABLE probe_schedule (
    id text PRIMARY KEY,
    name text NOT NULL UNIQUE,
    cron text NOT NULL,
    run_order jsonb NOT NULL,
    enabled boolean NOT NULL DEFAULT true,
    version bigint NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL DEFAULT now(),
    created_by text NOT NULL,
    next_run_at timestamptz,
    last_run_at timestamptz,
    last_error text NOT NULL DEFAULT '',
    claimed_until timestamptz
);
COMMENT ON TABLE probe_schedule IS 'M21: orders of probe runs that repeat.';
COMMENT ON COLUMN probe_schedule.cron IS 'Five fields in UTC: minute, hour, day of month, month, day of week; or @every and seconds.';
COMMENT ON COLUMN probe_schedule.run_order IS 'The body of POST /probe-runs.';
COMMENT ON COLUMN probe_schedule.next_run_at IS 'Null while it is not enabled.';
COMMENT ON COLUMN probe_schedule.claimed_until IS 'Until then a replica is queueing its runs; later another one may, because that one is gone.';
CREATE INDEX probe_schedule_due ON probe_schedule (next_run_at) WHERE enabled; -- the scheduling duty

ALTER TABLE center
    ADD COLUMN probe_share double precision NOT NULL DEFAULT 0.001 CHECK (probe_share BETWEEN 0 AND 1),
    ADD COLUMN probe_requested_at timestamptz,
    ADD COLUMN probe_request_reason text NOT NULL DEFAULT '';
COMMENT ON COLUMN center.probe_share IS 'Of its unit-seconds of 30 days, what probes may use at most.';
COMMENT ON COLUMN center.probe_requested_at IS 'The center itself, or a change of what it offers, asks for new measurements; null when that is done.';

-- One place for what probes cost a center: the queue of probes, the list of centers and the metrics read it.
CREATE VIEW probe_use AS
    SELECT r.id AS probe_run_id, r.center_id, r.ended_at AS run_ended_at, a.ended_at,
           a.unit_count * greatest(coalesce(a.run_s, least(extract(epoch FROM a.ended_at - a.started_at)::float8,
                                                           (j.spec ->> 'wall_limit_s')::float8), 0), 0) AS unit_s
    FROM probe_run r JOIN job j ON j.id = r.job_id JOIN attempt a ON a.job_id = r.job_id AND a.state = 'ended';
COMMENT ON VIEW probe_use IS 'Unit-seconds of each ended attempt of a probe. Where nobody reported the run time, the time until the attempt was given up.';
CREATE INDEX probe_run_of_center ON probe_run (center_id, ended_at); -- the budget: probes of the last 30 days
CREATE INDEX probe_run_open ON probe_run (center_id) WHERE state IN ('queued', 'lost'); -- the budget: what is reserved

CREATE VIEW probe_budget AS
    SELECT c.id AS center_id, c.probe_share AS share,
           (SELECT coalesce(sum(u.unit_count), 0)::bigint FROM unit_type u
            WHERE u.center_id = c.id AND u.active) AS unit_count,
           (SELECT coalesce(max(u.unit_count), 1) FROM unit_type u
            WHERE u.center_id = c.id AND u.active) AS largest_unit_count,
           (SELECT coalesce(sum(x.unit_s), 0) FROM probe_use x
            WHERE x.center_id = c.id AND x.ended_at > now() - interval '30 days'
              AND (x.run_ended_at IS NULL OR x.run_ended_at > now() - interval '31 days')) AS used_s,
           (SELECT coalesce(sum((j.spec ->> 'wall_limit_s')::float8 * greatest(a.unit_count, coalesce(nullif(r.unit_count, 0),
                (SELECT max(u.unit_count) FROM unit_type u WHERE u.center_id = c.id AND u.active), 1))), 0)
            FROM probe_run r JOIN job j ON j.id = r.job_id
            LEFT JOIN attempt a ON a.job_id = r.job_id AND a.state <> 'ended'
            WHERE r.center_id = c.id AND r.state IN ('queued', 'lost')
              AND j.state NOT IN ('succeeded', 'failed', 'cancelled')) AS reserved_s
    FROM center c;
COMMENT ON VIEW probe_budget IS 'What probes may use of a center, in unit-seconds: share x unit_count x 30 days. reserved_s: the wall limits of what is queued or runs; a run that chooses its own count is taken for all units of the largest type.';
