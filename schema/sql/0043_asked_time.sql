-- How long jobs were said to run at most, beside how long they ran: what submitters ask for is learned from it.

ALTER TABLE run_prediction ADD COLUMN asked_s bigint NOT NULL DEFAULT 0 CHECK (asked_s >= 0);
COMMENT ON COLUMN run_prediction.asked_s IS 'The wall limit that its submitter had asked for, seconds; 0: none, so that the usual one of a day held.';
-- Of those that are still learned from, or will be.
UPDATE run_prediction p SET asked_s = (j.spec ->> 'wall_limit_s')::bigint FROM job j
WHERE j.id = p.job_id AND (p.ended_at IS NULL OR p.ended_at > now() - interval '90 days')
  AND (j.spec ->> 'wall_limit_s')::bigint <> 86400;
