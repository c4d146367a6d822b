-- What the nodes of an attempt took while it ran, where its center's batch system counts that.
ALTER TABLE attempt ADD COLUMN energy_j bigint NOT NULL DEFAULT 0 CHECK (energy_j >= 0);
COMMENT ON COLUMN attempt.energy_j IS 'Joules that the nodes took while it ran, as its center''s batch system counts them; what other jobs on the same nodes took is in it. Told with its end; 0: its center tells none.';
