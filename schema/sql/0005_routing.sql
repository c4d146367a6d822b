-- Routing that learns: prices, shares and quotas, calendars, predictions against what came, quarantine.

ALTER TABLE project
    ADD COLUMN share double precision NOT NULL DEFAULT 1 CHECK (share > 0),
    ADD COLUMN most_units bigint NOT NULL DEFAULT 0 CHECK (most_units >= 0),
    ADD COLUMN most_score_hours double precision NOT NULL DEFAULT 0 CHECK (most_score_hours >= 0),
    ADD COLUMN most_cost_micros bigint NOT NULL DEFAULT 0 CHECK (most_cost_micros >= 0),
    ADD COLUMN centers text[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN project.share IS 'Weight in fair sharing against other projects.';
COMMENT ON COLUMN project.most_units IS 'Units that its jobs may hold at once; 0: no limit.';
COMMENT ON COLUMN project.most_score_hours IS 'In a calendar month (UTC): unit-hours x score of the unit type / 1000; 0: no limit.';
COMMENT ON COLUMN project.most_cost_micros IS 'In a calendar month (UTC), in the currency of the price book; 0: no limit.';
COMMENT ON COLUMN project.centers IS 'Names of the centers that its jobs may run at; empty: all.';

ALTER TABLE job
    ADD COLUMN priority integer NOT NULL DEFAULT 0 CHECK (priority BETWEEN -100 AND 100),
    ADD COLUMN gang text NOT NULL DEFAULT '',
    ADD COLUMN turn double precision NOT NULL DEFAULT 0,
    ADD COLUMN waiting_reason_at timestamptz;
COMMENT ON COLUMN job.gang IS 'Jobs of one project with the same gang start together; empty: alone.';
COMMENT ON COLUMN job.turn IS 'Smaller goes first; set by the router when it orders waiting jobs. 0: not ordered yet, so looked at first.';
COMMENT ON COLUMN job.waiting_reason_at IS 'Since when the router has given waiting_reason; null: it has given none.';
CREATE INDEX job_turn ON job (turn, id) WHERE state IN ('queued', 'metering'); -- the router's claim, in order of turn
CREATE INDEX job_gang ON job (project, gang, state) WHERE gang <> ''; -- how many of a gang wait, and how many are gone
CREATE INDEX job_gang_waiting ON job (project, gang, id) WHERE gang <> '' AND state IN ('queued', 'metering'); -- the claim of its oldest members
CREATE INDEX job_live_of_project ON job (project) WHERE state IN ('placed', 'dispatched', 'running', 'lost'); -- what a quota leaves

-- A count that contradicts limits given with it is refused from now on; jobs that were accepted with one keep the count.
UPDATE job SET spec = jsonb_set(spec, '{units,max}', spec #> '{units,count}')
WHERE jsonb_typeof(spec #> '{units,count}') = 'number' AND spec #> '{units,count}' > spec #> '{units,max}';
UPDATE job SET spec = jsonb_set(spec, '{units,min}', spec #> '{units,count}')
WHERE jsonb_typeof(spec #> '{units,count}') = 'number' AND spec #> '{units,count}' < spec #> '{units,min}';

CREATE TABLE price_book (
    version bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    document jsonb NOT NULL,
    valid_from timestamptz NOT NULL DEFAULT now(),
    created_at timestamptz NOT NULL DEFAULT now(),
    created_by text NOT NULL
);
COMMENT ON TABLE price_book IS 'What units cost and draw. The newest whose valid_from has come is in force; rows are never changed.';
CREATE INDEX price_book_in_force ON price_book (valid_from DESC, version DESC); -- the snapshot

-- What was predicted for an attempt, beside the explanation in placement: the ledger that corrects the next ones.
CREATE TABLE run_prediction (
    attempt_id text PRIMARY KEY REFERENCES attempt (id),
    job_id text NOT NULL,
    submitted_by text NOT NULL DEFAULT '',
    job_type text NOT NULL,
    unit_type_id text NOT NULL REFERENCES unit_type (id),
    unit_count bigint NOT NULL,
    promised_s double precision NOT NULL DEFAULT 0,
    promised_low_s double precision NOT NULL DEFAULT 0,
    promised_high_s double precision NOT NULL DEFAULT 0,
    run_s double precision NOT NULL DEFAULT 0,
    low_s double precision NOT NULL DEFAULT 0,
    high_s double precision NOT NULL DEFAULT 0,
    width_factor double precision NOT NULL DEFAULT 1,
    free_s double precision NOT NULL DEFAULT 0,
    wait_s double precision NOT NULL DEFAULT 0,
    wait_low_s double precision NOT NULL DEFAULT 0,
    wait_high_s double precision NOT NULL DEFAULT 0,
    cost double precision NOT NULL DEFAULT 0,
    energy_j double precision NOT NULL DEFAULT 0,
    currency text NOT NULL DEFAULT '',
    decided_at timestamptz NOT NULL DEFAULT now(),
    actual_run_s double precision,
    actual_wait_s double precision,
    actual_cost double precision,
    ended_at timestamptz,
    outcome text NOT NULL DEFAULT ''
);
COMMENT ON TABLE run_prediction IS 'Predicted against actual of every attempt of a job: run time, wait from the decision to the start, cost.';
COMMENT ON COLUMN run_prediction.submitted_by IS 'Whose job it is, as the job has it: lists of own predictions need not read jobs.';
COMMENT ON COLUMN run_prediction.promised_s IS 'What measurements alone let expect; 0: nothing, or the job moves data, whose time nobody tells apart. run_s is what was predicted, corrected by history; 0: nothing.';
COMMENT ON COLUMN run_prediction.width_factor IS 'What half the width of the interval low_s to high_s was multiplied by (RunCorrection): calibration must know it, or it would swing.';
COMMENT ON COLUMN run_prediction.free_s IS 'Until its units were to be free; wait_s adds what starts take beyond that.';
COMMENT ON COLUMN run_prediction.outcome IS 'Of the attempt, succeeded or otherwise; empty while it lasts.';
CREATE INDEX run_prediction_newest ON run_prediction (ended_at DESC) WHERE ended_at IS NOT NULL; -- learning, the list
CREATE INDEX run_prediction_of_unit_type ON run_prediction (unit_type_id, attempt_id DESC); -- lists filtered by center or unit type
CREATE INDEX run_prediction_of_type ON run_prediction (job_type, attempt_id DESC); -- lists filtered by job type
CREATE INDEX run_prediction_of_submitter ON run_prediction (submitted_by, attempt_id DESC); -- a user's list holds only own jobs

-- What ended long ago counts for no share and no quota any more: it is never added up.
ALTER TABLE attempt ADD COLUMN counted boolean NOT NULL DEFAULT true;
UPDATE attempt SET counted = false WHERE state <> 'ended' OR ended_at > now() - interval '70 days';
ALTER TABLE attempt ALTER COLUMN counted SET DEFAULT false;
COMMENT ON COLUMN attempt.counted IS 'It has ended, and project_use has what it used.';
CREATE INDEX attempt_uncounted ON attempt (id) WHERE state = 'ended' AND NOT counted; -- what project_use lacks

CREATE TABLE project_use (
    project text NOT NULL,
    day date NOT NULL,
    unit_type_id text NOT NULL REFERENCES unit_type (id),
    unit_s double precision NOT NULL,
    score_hours double precision NOT NULL,
    cost double precision NOT NULL,
    PRIMARY KEY (project, day, unit_type_id)
);
COMMENT ON TABLE project_use IS 'What the jobs of a project have used, by the day (UTC) on which attempts ended: sums, so that shares and quotas need not read every attempt.';
COMMENT ON COLUMN project_use.score_hours IS 'Unit-hours x score of the unit type when it was counted / 1000.';
CREATE INDEX project_use_of_day ON project_use (day); -- shares: what all projects used of late

-- Jobs of before teach, too: what was promised for them stands in the decision. Nothing was corrected then.
INSERT INTO run_prediction (attempt_id, job_id, submitted_by, job_type, unit_type_id, unit_count, promised_s,
                            promised_low_s, promised_high_s, run_s, low_s, high_s, decided_at, actual_run_s,
                            actual_wait_s, ended_at, outcome)
SELECT a.id, j.id, j.submitted_by, j.job_type, a.unit_type_id, a.unit_count, w.run_s, w.low_s, w.high_s, w.run_s,
       w.low_s, w.high_s, p.decided_at, a.run_s, greatest(extract(epoch FROM a.started_at - p.decided_at), 0),
       least(greatest(a.ended_at, p.decided_at), now()), 'succeeded'
FROM job j JOIN attempt a ON a.job_id = j.id JOIN placement p ON p.attempt_id = a.id
     CROSS JOIN LATERAL (
         SELECT (c.prediction ->> 'run_s')::float8 AS run_s, (c.prediction ->> 'low_s')::float8 AS low_s,
                (c.prediction ->> 'high_s')::float8 AS high_s, (c.prediction ->> 'unknown_operators')::bigint AS unknown,
                c.prediction -> 'operators' AS operators
         FROM (SELECT p.decision -> 'candidates' -> (p.decision ->> 'winner')::int -> 'prediction' AS prediction) c) w
WHERE j.label = 'job' AND j.state = 'succeeded' AND a.outcome = 'exited' AND a.exit_code = 0 AND a.run_s > 0
  AND a.ended_at > now() - interval '90 days' AND w.run_s > 0 AND w.low_s > 0 AND w.high_s > 0 AND w.unknown = 0
  AND jsonb_array_length(w.operators) > 0
  AND coalesce((j.spec -> 'data' ->> 'out_bytes')::float8, 0) = 0
  AND coalesce(jsonb_array_length(j.spec -> 'data' -> 'in'), 0) = 0;

CREATE TABLE advance_reservation (
    id text PRIMARY KEY,
    project text NOT NULL,
    center_id text NOT NULL REFERENCES center (id),
    unit_type_id text NOT NULL REFERENCES unit_type (id),
    unit_count bigint NOT NULL CHECK (unit_count >= 1),
    starts_at timestamptz NOT NULL,
    ends_at timestamptz NOT NULL CHECK (ends_at > starts_at),
    created_at timestamptz NOT NULL DEFAULT now(),
    created_by text NOT NULL,
    cancelled_at timestamptz
);
COMMENT ON TABLE advance_reservation IS 'Units kept for the jobs of one project during some time.';
CREATE INDEX advance_reservation_open ON advance_reservation (unit_type_id, ends_at) WHERE cancelled_at IS NULL; -- the snapshot, conflicts
CREATE INDEX advance_reservation_open_of_project ON advance_reservation (project, ends_at) WHERE cancelled_at IS NULL; -- what a project may hold
CREATE INDEX advance_reservation_open_of_creator ON advance_reservation (created_by, ends_at) WHERE cancelled_at IS NULL; -- how many one may have
CREATE INDEX advance_reservation_of_project ON advance_reservation (project, id DESC); -- a project's list

CREATE TABLE maintenance_window (
    id text PRIMARY KEY,
    center_id text NOT NULL REFERENCES center (id),
    unit_type_id text REFERENCES unit_type (id),
    starts_at timestamptz NOT NULL,
    ends_at timestamptz NOT NULL CHECK (ends_at > starts_at),
    reason text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT now(),
    created_by text NOT NULL,
    cancelled_at timestamptz
);
COMMENT ON TABLE maintenance_window IS 'When a center, or one of its unit types, takes no work: jobs that would still run then start after it.';
CREATE INDEX maintenance_window_open ON maintenance_window (center_id, ends_at) WHERE cancelled_at IS NULL; -- the snapshot

ALTER TABLE center
    ADD COLUMN quarantined_at timestamptz,
    ADD COLUMN quarantine_reason text NOT NULL DEFAULT '',
    ADD COLUMN quarantine_obstacle text NOT NULL DEFAULT '',
    ADD COLUMN quarantine_lifted_at timestamptz,
    ADD COLUMN queued_s double precision NOT NULL DEFAULT 0 CHECK (queued_s >= 0);
COMMENT ON COLUMN center.quarantined_at IS 'Since when it gets no jobs, because it failed too many; probes still run there, and good ones let it back in. Null: it is not.';
COMMENT ON COLUMN center.quarantine_obstacle IS 'Why it cannot be probed, so that it will not come back by itself; for people.';
COMMENT ON COLUMN center.quarantine_lifted_at IS 'When it was last let back in: what jobs did there before is forgiven.';
COMMENT ON COLUMN center.queued_s IS 'What its own queue holds before a new job, as its agent last said; 0 where it runs jobs at once.';

ALTER TABLE unit_type ADD COLUMN drift_requested_at timestamptz;
COMMENT ON COLUMN unit_type.drift_requested_at IS 'When its jobs last went otherwise than predicted so clearly that it was measured again.';

ALTER TABLE placement ADD COLUMN inputs jsonb;
COMMENT ON COLUMN placement.inputs IS 'What the decision rested on (core/decide/route_json), so that it can be made again; null for those before this column.';

ALTER TABLE probe_run DROP CONSTRAINT probe_run_cause_check;
ALTER TABLE probe_run ADD CONSTRAINT probe_run_cause_check
    CHECK (cause IN ('command', 'arrival', 'schedule', 'catalog_change', 'pretest', 'learned', 'drift', 'quarantine'));
COMMENT ON COLUMN probe_run.cause IS 'drift: jobs on the unit type went otherwise than predicted. quarantine: to see whether the center is good again.';
