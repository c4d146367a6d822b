-- G9: with whom an attempt shared its GPUs and what that cost it, kept when its programs are gone from shared_gpu.

CREATE TABLE attempt_gpu (
    attempt_id text NOT NULL REFERENCES attempt (id),
    gpu text NOT NULL CHECK (length(gpu) BETWEEN 1 AND 256),
    capacity_bytes bigint NOT NULL CHECK (capacity_bytes >= 0),
    programs jsonb NOT NULL,
    neighbours text[] NOT NULL,
    first_told_at timestamptz NOT NULL DEFAULT now(),
    last_told_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (attempt_id, gpu)
);
COMMENT ON TABLE attempt_gpu IS 'GPUs with shared memory that programs of an attempt were on, as its center''s memory manager last told. Rows go with the attempt. At most 64 for each attempt (server/centers/job_gpus_store.hpp).';
COMMENT ON COLUMN attempt_gpu.gpu IS 'Its UUID.';
COMMENT ON COLUMN attempt_gpu.programs IS 'By process, the last figures of each program of the job (core/model/gpu_memory.hpp); at most 64.';
COMMENT ON COLUMN attempt_gpu.neighbours IS 'What other programs said their jobs are while they were on the GPU with it, empty for none, each once; at most 64.';
