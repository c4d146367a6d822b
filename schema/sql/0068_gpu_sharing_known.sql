-- C8: what others on its GPU were expected to cost a run, which is in what was promised.

ALTER TABLE run_prediction
    ADD COLUMN gpu_slowdown double precision NOT NULL DEFAULT 1 CHECK (gpu_slowdown >= 1);
COMMENT ON COLUMN run_prediction.gpu_slowdown IS 'In promised_s: of the run beside those who had parts of its GPU when it was placed, as expected, over that alone; 1: nothing was known of them. What is learned of pairs is learned without it (server/jobs/gpu_sharing_store.hpp).';

-- G1: what runs had of a GPU's memory, by which a center chooses the GPU of later ones that say nothing.
CREATE TABLE gpu_memory_run (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind text NOT NULL CHECK (kind <> ''),
    persistent_bytes bigint NOT NULL CHECK (persistent_bytes >= 0),
    temporary_bytes bigint NOT NULL CHECK (temporary_bytes >= 0),
    ended_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE gpu_memory_run IS 'A row for a run that ended well on GPUs whose memory a manager tells of. Rows outlive their jobs and name none. At most 16 for each kind, and the newest 8192 (server/jobs/gpu_need_store.hpp).';
COMMENT ON COLUMN gpu_memory_run.kind IS 'A digest of its type, submitter and project (AttemptOrder::gpu_kind).';
COMMENT ON COLUMN gpu_memory_run.persistent_bytes IS 'Of the GPU where it had most, the most that its programs had across iterations, all together.';
COMMENT ON COLUMN gpu_memory_run.temporary_bytes IS 'The most that one of its programs had within an iteration.';
CREATE INDEX gpu_memory_run_of_kind ON gpu_memory_run (kind, id DESC); -- older ones of the same kind go
