-- One ladder of predictions: a job type keeps its last profiled run, which further runs are predicted from, and the
-- ledger says what a promise was made of, so that errors of one kind of promise correct no other.
ALTER TABLE job_type ADD COLUMN known_run jsonb;
COMMENT ON COLUMN job_type.known_run IS 'Its last profiled run on one unit: where (unit_type_id), how long (run_s), which share of it was waiting, and each operator with its share; null: none.';

ALTER TABLE run_prediction ADD COLUMN promise_basis text NOT NULL DEFAULT 'operators' CHECK (promise_basis IN ('operators', 'reference'));
COMMENT ON COLUMN run_prediction.promise_basis IS 'Of promised_s: the sum of the job''s operators, or a known run of its type, carried over by the ratios of probes.';
COMMENT ON COLUMN run_prediction.actual_run_s IS 'Of the program itself: what its profile took beside it is not in it.';

-- M2: results of one version of an operator say nothing of another.
CREATE VIEW operator_in_use AS
    SELECT id, coalesce(max(version) FILTER (WHERE withdrawn_at IS NULL), max(version)) AS version FROM operator GROUP BY id;
COMMENT ON VIEW operator_in_use IS 'The version of each operator that jobs and tasks get which name none: the newest that is not withdrawn.';

-- M7: a job's own sizes may take too long for a probe; then smaller ones stand for them.
ALTER TABLE probe_task ADD COLUMN scaled_to text REFERENCES probe_task (id);
COMMENT ON COLUMN probe_task.scaled_to IS 'The task of smaller sizes that is measured instead of this one, which took too long; null: none.';
