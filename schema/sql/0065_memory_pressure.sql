-- Pressure on memory and sensitivity to it (Bubble-Up): what an operator costs others and they cost it, in mixes, too.
ALTER TABLE copy_measurement
    ADD COLUMN beside_bubbles double precision CHECK (beside_bubbles > 0),
    ADD COLUMN reporter_beside double precision CHECK (reporter_beside > 0),
    ADD COLUMN reporter_beside_bubbles double precision CHECK (reporter_beside_bubbles > 0),
    ADD CONSTRAINT copy_measurement_pressure CHECK ((beside_bubbles IS NULL) = (reporter_beside IS NULL)
                                                    AND (beside_bubbles IS NULL) = (reporter_beside_bubbles IS NULL));
COMMENT ON COLUMN copy_measurement.beside_bubbles IS 'Of the first copy: its time while the others were bubbles, over that alone. Empty: there was no time or memory for it, or its fathom-probe is older.';
COMMENT ON COLUMN copy_measurement.reporter_beside IS 'The reporter''s time while the others executed the operator, over that alone.';
COMMENT ON COLUMN copy_measurement.reporter_beside_bubbles IS 'The reporter''s time while the others were bubbles, over that alone: of all operators of the run the same.';

ALTER TABLE run_prediction
    ADD COLUMN pressure double precision CHECK (pressure >= 0),
    ADD COLUMN sensitivity double precision CHECK (sensitivity >= 0);
COMMENT ON COLUMN run_prediction.pressure IS 'On memory, of each core of the job, in bubbles; empty: not known.';
COMMENT ON COLUMN run_prediction.sensitivity IS 'Of ln(its time), for each core of its host that has a bubble; empty: not known.';
