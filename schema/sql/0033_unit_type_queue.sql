-- The queues of centers' own batch systems, other people's jobs in them included.

CREATE TABLE unit_type_queue (
    unit_type_id text PRIMARY KEY REFERENCES unit_type (id) ON DELETE CASCADE,
    expected_start timestamptz,
    told_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE unit_type_queue IS 'What the agent of a cluster last said of the queue before a unit type.';
COMMENT ON COLUMN unit_type_queue.expected_start IS 'When a job of one unit that is submitted at told_at would start, as the batch system plans; null: it does not say.';
