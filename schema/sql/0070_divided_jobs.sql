-- Jobs with steps, and how far a divided one is (docs/decisions/0049-divided-jobs.md).

ALTER TABLE job
    ADD COLUMN steps jsonb,
    -- A replica of an earlier version knows no parts: what it cannot end well is left to a newer one.
    ADD CONSTRAINT job_succeeds_with_its_last_part
        CHECK (state <> 'succeeded' OR steps IS NULL
               OR (steps ->> 'part')::integer + 1 >= jsonb_array_length(steps -> 'parts')) NOT VALID;
COMMENT ON COLUMN job.steps IS 'Steps of a job whose owner names them: {split, items, division, parts, part, type, whole}. parts is empty while it runs whole; else spec is that of the part whose index is part, and whole the one that was submitted. NULL: it has none.';
