-- Why an attempt ended so, as a code. Until now the beginning of its detail told it, which is how the ends that there
-- are get theirs.

ALTER TABLE attempt
    ADD COLUMN cause text NOT NULL DEFAULT 'none'
        CHECK (cause IN ('none', 'program_not_started', 'staging_failed', 'no_local_user', 'outputs_failed'));
COMMENT ON COLUMN attempt.cause IS 'What its outcome leaves open: whose failure it is that it was not started, or that it had no good end. none: its outcome says all; one that failed to start did so through its center.';

UPDATE attempt SET cause = CASE WHEN outcome = 'exited' THEN 'outputs_failed'
                                WHEN starts_with(detail, 'cannot start "') THEN 'program_not_started'
                                WHEN starts_with(detail, 'staging failed: ') THEN 'staging_failed'
                                ELSE 'no_local_user' END
WHERE outcome = 'failed_to_start'
      AND (starts_with(detail, 'cannot start "') OR starts_with(detail, 'staging failed: ')
           OR starts_with(detail, 'no local user: '))
   OR outcome = 'exited' AND exit_code IS NULL AND starts_with(detail, 'outputs could not be stored: ');
