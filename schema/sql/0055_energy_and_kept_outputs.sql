-- What the nodes of an attempt took while it ran, where its center's batch system counts that.
ALTER TABLE attempt ADD COLUMN energy_j bigint NOT NULL DEFAULT 0 CHECK (energy_j >= 0);
COMMENT ON COLUMN attempt.energy_j IS 'Joules that the nodes took while it ran, as its center''s batch system counts them; what other jobs on the same nodes took is in it. Told with its end; 0: its center tells none.';

-- Which centers keep a copy of what a job has stored, beside the one where it ran: those that have fetched it since, as
-- the input of a later job. No references: what ends such a later job would lock the earlier one's row, in no order.
CREATE TABLE kept_output (
    job_id text NOT NULL,
    path text NOT NULL,
    center_id text NOT NULL,
    told_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (job_id, path, center_id)
);
COMMENT ON TABLE kept_output IS 'Centers that have fetched an output as an input of a later job, and keep a copy, as far as is known. Goes with its job.';
COMMENT ON COLUMN kept_output.job_id IS 'The job that has stored it.';
COMMENT ON COLUMN kept_output.path IS 'As in that job''s outputs.';
COMMENT ON COLUMN kept_output.told_at IS 'When a later job there ended well that had it as an input.';
