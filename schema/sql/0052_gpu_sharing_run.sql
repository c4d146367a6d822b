-- C8: runs on shared GPUs that ended well, alone or beside jobs of one kind, from which pairs of jobs are learned.

CREATE TABLE gpu_sharing_run (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind text NOT NULL CHECK (kind <> ''),
    kind_class text NOT NULL CHECK (kind_class IN ('unknown', 'compute', 'memory')),
    beside text NOT NULL,
    beside_class text NOT NULL CHECK (beside_class IN ('unknown', 'compute', 'memory')),
    unit_type_id text NOT NULL REFERENCES unit_type (id),
    unit_count bigint NOT NULL CHECK (unit_count >= 1),
    promise_basis text NOT NULL CHECK (promise_basis IN ('', 'operators', 'reference')),
    pace double precision NOT NULL CHECK (pace > 0),
    together_share double precision NOT NULL CHECK (together_share BETWEEN 0 AND 1),
    ended_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE gpu_sharing_run IS 'What core/decide/corun/shared_runs.hpp learns pairs of jobs from. Rows outlive their jobs and name none. At most 16 for each kind, neighbour and place, and the newest 8192 (server/jobs/gpu_sharing_store.hpp).';
COMMENT ON COLUMN gpu_sharing_run.kind IS 'A digest of its type, submitter and project; its class where it has no type.';
COMMENT ON COLUMN gpu_sharing_run.beside IS 'Kind of the jobs that shared its GPUs with it, one at a time; empty: nobody did.';
COMMENT ON COLUMN gpu_sharing_run.promise_basis IS 'What run_prediction promised the run time by; empty: nothing was promised.';
COMMENT ON COLUMN gpu_sharing_run.pace IS 'Run time over what was promised; where nothing was, seconds.';
COMMENT ON COLUMN gpu_sharing_run.together_share IS 'Of its run time, the part in which one of the others was there.';
CREATE INDEX gpu_sharing_run_of_pair ON gpu_sharing_run (kind, beside, unit_type_id, unit_count, promise_basis, id DESC); -- older ones of the same pair go
