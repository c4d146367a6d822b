-- Several copies of a probe side by side (M19, throughput), each on a unit of its own of one host: what neighbours cost.
ALTER TABLE probe_run
    ADD COLUMN mode text NOT NULL DEFAULT 'strong' CHECK (mode IN ('strong', 'throughput')),
    ADD CONSTRAINT probe_run_copies CHECK (mode = 'strong' OR unit_count >= 2);
COMMENT ON COLUMN probe_run.mode IS 'M19: strong: one process on all of its units; throughput: a copy on each. Copies are no measurements: their times are in copy_measurement.';
DROP INDEX probe_run_pending;
CREATE UNIQUE INDEX probe_run_pending ON probe_run (probe_task_id, unit_type_id, unit_count, mode) WHERE state = 'queued'; -- one at a time

CREATE TABLE copy_measurement (
    probe_run_id text NOT NULL REFERENCES probe_run (id) ON DELETE CASCADE,
    copy integer NOT NULL CHECK (copy >= 1),
    operator_id text NOT NULL,
    operator_version bigint NOT NULL,
    parameters_key text NOT NULL,
    unit_type_id text NOT NULL REFERENCES unit_type (id),
    copies integer NOT NULL CHECK (copies >= 2 AND copy <= copies),
    median_s double precision NOT NULL CHECK (median_s > 0),
    ci_low_s double precision NOT NULL,
    ci_high_s double precision NOT NULL,
    alone_s double precision NOT NULL CHECK (alone_s > 0),
    measured_at timestamptz NOT NULL DEFAULT now(),
    void_reason text NOT NULL DEFAULT '',
    PRIMARY KEY (probe_run_id, copy, operator_id, operator_version, parameters_key)
);
COMMENT ON TABLE copy_measurement IS 'One operator at one size in one of several copies side by side. Times are seconds per execution; every sample is in probe_run.result.';
COMMENT ON COLUMN copy_measurement.alone_s IS 'What the first copy of the run took right before, while the others stood still: of all copies the same.';
CREATE INDEX copy_measurement_newest ON copy_measurement (unit_type_id, operator_id, measured_at DESC); -- load curves

CREATE TRIGGER copy_measurement_is_new AFTER INSERT ON copy_measurement
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_measurement_change();
CREATE TRIGGER copy_measurement_is_changed AFTER UPDATE ON copy_measurement
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_measurement_change();
CREATE TRIGGER copy_measurement_is_gone AFTER DELETE ON copy_measurement
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_measurement_change();
