-- Lists of jobs by their type, their name, and where they are.

CREATE INDEX job_by_type ON job (job_type, id) WHERE job_type <> '';  -- lists filtered by job type
CREATE INDEX job_by_name ON job (name text_pattern_ops);              -- lists of jobs whose name begins with a text
CREATE INDEX attempt_by_unit_type ON attempt (unit_type_id, job_id); -- lists filtered by center or unit type

-- How long a scheduling cycle took to decide.

ALTER TABLE schedule_cycle ADD COLUMN decision_s double precision CHECK (decision_s >= 0);
COMMENT ON COLUMN schedule_cycle.decision_s IS 'Time that its decisions took, without what was read and written for them; null: it was kept by an earlier version.';
