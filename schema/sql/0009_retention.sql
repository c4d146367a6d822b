-- What has ended is kept for as long as the settings say, and then removed in small batches.

CREATE TABLE attempt_output (
    attempt_id text PRIMARY KEY REFERENCES attempt (id),
    bytes bigint NOT NULL CHECK (bytes >= 0),
    first_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE attempt_output IS 'How much of job_output each attempt has. A row goes with the output, so that what is yet to be removed is found without reading the output.';
COMMENT ON COLUMN attempt_output.first_at IS 'When its first piece came.';
CREATE INDEX attempt_output_by_age ON attempt_output (first_at, attempt_id); -- retention: whose output is old enough
INSERT INTO attempt_output (attempt_id, bytes, first_at)
    SELECT a.id, o.bytes, a.created_at
    FROM (SELECT attempt_id, sum(length(data)) AS bytes FROM job_output GROUP BY attempt_id) o
         JOIN attempt a ON a.id = o.attempt_id;

ALTER TABLE attempt ADD COLUMN output_removed_at timestamptz;
COMMENT ON COLUMN attempt.output_removed_at IS 'Since when its output is no longer kept; null: it is kept, or there was none.';

CREATE INDEX job_ended ON job (state_changed_at, id) WHERE label = 'job' AND state IN ('succeeded', 'failed', 'cancelled'); -- retention: jobs that are old enough
CREATE INDEX probe_run_ended ON probe_run (ended_at, id) WHERE state <> 'queued';                   -- retention: probe runs
CREATE INDEX audit_log_at ON audit_log (at, id);                                                     -- retention: the audit log
CREATE INDEX job_lesson_of_job ON job_lesson (job_id);                                               -- removal of a job: what refers to it
CREATE INDEX probe_task_pretest ON probe_task (pretest_run_id) WHERE pretest_run_id IS NOT NULL;     -- removal of a run: what refers to it
CREATE INDEX probe_finding_of_run ON probe_finding (probe_run_id) WHERE probe_run_id IS NOT NULL;    -- the same
