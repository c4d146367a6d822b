-- Which runs measure the parts of a run that took too long, so that whoever waits for that run can wait for these.

ALTER TABLE probe_run ADD COLUMN divides_run_id text REFERENCES probe_run (id);
COMMENT ON COLUMN probe_run.divides_run_id IS 'The run that reached its time limit, of which this one measures a part of the operators.';
CREATE INDEX probe_run_divides ON probe_run (divides_run_id) WHERE divides_run_id IS NOT NULL;
