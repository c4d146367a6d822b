-- From a job to a released probe task: pre-tests (M7), job types and what was learned of them (M11).

ALTER TABLE probe_task
    ADD COLUMN state text NOT NULL DEFAULT 'released'
        CHECK (state IN ('draft', 'testing', 'tested', 'released', 'refused', 'retired')),
    ADD COLUMN state_reason text NOT NULL DEFAULT '',
    ADD COLUMN state_changed_at timestamptz NOT NULL DEFAULT now(),
    ADD COLUMN version bigint NOT NULL DEFAULT 1,
    ADD COLUMN from_job text NOT NULL DEFAULT '',
    ADD COLUMN pretest_run_id text REFERENCES probe_run (id),
    ADD COLUMN pretest_s double precision,
    ADD COLUMN releases_itself boolean NOT NULL DEFAULT false,
    ADD COLUMN awaited_unit_types text[] NOT NULL DEFAULT '{}',
    ADD COLUMN awaited_cause text NOT NULL DEFAULT 'arrival';
COMMENT ON COLUMN probe_task.state IS 'M7. draft: never tried. testing: its pre-test runs. tested: it passed. released: in use. refused: state_reason says why. retired: no longer used.';
COMMENT ON COLUMN probe_task.version IS 'For ETag and If-Match; grows with every change of the state.';
COMMENT ON COLUMN probe_task.from_job IS 'The job whose operators it was made from; empty when nobody said.';
COMMENT ON COLUMN probe_task.pretest_run_id IS 'The probe run that decides, or decided, whether it passes.';
COMMENT ON COLUMN probe_task.pretest_s IS 'How long the last pre-test that passed took.';
COMMENT ON COLUMN probe_task.releases_itself IS 'Made for a job, not by a person: it is released as soon as its pre-test passes.';
COMMENT ON COLUMN probe_task.awaited_unit_types IS 'While it is testing: the unit types to measure as soon as it is released.';

ALTER TABLE probe_run DROP CONSTRAINT probe_run_cause_check;
ALTER TABLE probe_run ADD CONSTRAINT probe_run_cause_check
    CHECK (cause IN ('command', 'arrival', 'schedule', 'catalog_change', 'pretest', 'learned'));

ALTER TABLE job ADD COLUMN operators_from text NOT NULL DEFAULT '';
COMMENT ON COLUMN job.operators_from IS 'The job from which its type learned the operators that this job took over; empty when it named its own, or has none.';

CREATE TABLE job_type (
    name text PRIMARY KEY,
    origin text NOT NULL CHECK (origin IN ('user', 'mix', 'application')),
    mix jsonb NOT NULL,
    operators jsonb NOT NULL,
    profiled boolean NOT NULL,
    learned_from text NOT NULL,
    learned_at timestamptz NOT NULL DEFAULT now(),
    probe_task_id text REFERENCES probe_task (id)
);
COMMENT ON TABLE job_type IS 'M11: what jobs of a type execute, as their last one was seen to do.';
COMMENT ON COLUMN job_type.mix IS 'Shares of the work by operator and size class; what new mixes are compared with.';
COMMENT ON COLUMN job_type.operators IS 'Of a whole job, with counts: a job of this type that names no operators gets these.';
COMMENT ON COLUMN job_type.profiled IS 'The operators were counted while the job ran, not named by whoever submitted it.';
CREATE INDEX job_type_newest ON job_type (learned_at DESC); -- the catalog snapshot reads the newest

CREATE TABLE attempt_profile (
    attempt_id text PRIMARY KEY REFERENCES attempt (id),
    profile jsonb NOT NULL
);
COMMENT ON TABLE attempt_profile IS 'What an attempt was seen to execute, as the agent reported it.';

CREATE TABLE job_lesson (
    job_type text PRIMARY KEY,
    job_id text NOT NULL REFERENCES job (id),
    noted_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE job_lesson IS 'Ended jobs that their types have yet to learn from: a line in front of a duty, so that ends stay fast.';

CREATE TABLE project (
    name text PRIMARY KEY,
    profile_jobs boolean NOT NULL DEFAULT false,
    version bigint NOT NULL DEFAULT 1,
    changed_at timestamptz NOT NULL DEFAULT now(),
    changed_by text NOT NULL
);
COMMENT ON TABLE project IS 'Settings of projects. A project without a row has the defaults; its name stands in its jobs only.';
