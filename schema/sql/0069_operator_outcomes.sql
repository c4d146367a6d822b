-- What operators of profiled runs took, against what probes of their units let expect; loops that types of jobs have.

CREATE TABLE operator_outcome (
    attempt_id text NOT NULL REFERENCES attempt (id),
    operator_id text NOT NULL,
    parameters_key text NOT NULL,
    unit_type_id text NOT NULL REFERENCES unit_type (id),
    execution_count bigint NOT NULL CHECK (execution_count >= 1),
    -- Bounded on both sides, so that no sum and no quotient of rows is out of range.
    actual_s double precision NOT NULL CHECK (actual_s BETWEEN 1e-9 AND 1e15),
    predicted_s double precision CHECK (predicted_s BETWEEN 1e-9 AND 1e15),
    low_s double precision CHECK (low_s BETWEEN 0 AND 1e15),
    high_s double precision CHECK (high_s BETWEEN 0 AND 1e15),
    basis text NOT NULL,
    likeness double precision NOT NULL CHECK (likeness = 0 OR likeness BETWEEN 1e-9 AND 1),
    ended_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (attempt_id, operator_id, parameters_key),
    CHECK ((predicted_s IS NULL) = (low_s IS NULL) AND (predicted_s IS NULL) = (high_s IS NULL))
);
COMMENT ON TABLE operator_outcome IS 'A row for each operator and size that a profiled run on one unit executed and that ended well: predicted against actual, shown to people; nothing is decided by it. It goes with its attempt.';
COMMENT ON COLUMN operator_outcome.actual_s IS 'Of all its executions, in seconds of the threads that called it, as the profile has it.';
COMMENT ON COLUMN operator_outcome.predicted_s IS 'The same by what was measured of the operator on that unit type when the run ended; NULL: nothing was. low_s to high_s is its 80 % interval.';
COMMENT ON COLUMN operator_outcome.basis IS 'PredictionBasis: measured, interpolated, scaled; unknown where predicted_s is NULL.';
COMMENT ON COLUMN operator_outcome.likeness IS 'How much of the time of its calls goes as the operator does; 1: they are its calls.';
CREATE INDEX operator_outcome_newest ON operator_outcome (ended_at DESC); -- how good predictions of operators are

ALTER TABLE job_type ADD COLUMN own_loops jsonb;
COMMENT ON COLUMN job_type.own_loops IS 'Loops of the program''s own code in the profile that the type was learned from, each with its share, the nearest operator and the likeness; NULL: there was no profile.';
