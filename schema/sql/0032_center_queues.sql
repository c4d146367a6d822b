-- Why a center's own batch system has not started what was sent to it.

CREATE TABLE attempt_queue (
    attempt_id text PRIMARY KEY REFERENCES attempt (id) ON DELETE CASCADE,
    reason text NOT NULL CHECK (octet_length(reason) <= 1000),
    expected_start timestamptz,
    told_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE attempt_queue IS 'What the agent of a cluster last said of an attempt in its queue; once the attempt has started it says nothing any more.';
COMMENT ON COLUMN attempt_queue.reason IS 'In the batch system''s own words, such as Priority or Resources.';
COMMENT ON COLUMN attempt_queue.expected_start IS 'As the batch system plans; null: it does not say.';
