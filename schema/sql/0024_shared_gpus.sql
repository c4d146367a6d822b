-- G9: what jobs have of the memory of GPUs that they share, as centers' memory managers last told.

CREATE TABLE shared_gpu (
    center_id text NOT NULL REFERENCES center (id),
    gpu text NOT NULL CHECK (length(gpu) BETWEEN 1 AND 256),
    reported_at timestamptz NOT NULL DEFAULT now(),
    report jsonb NOT NULL,
    PRIMARY KEY (center_id, gpu)
);
COMMENT ON TABLE shared_gpu IS 'GPUs whose memory several jobs share. A row stays as it is while its center is away.';
COMMENT ON COLUMN shared_gpu.gpu IS 'Its UUID.';
COMMENT ON COLUMN shared_gpu.report IS 'Figures of the GPU and of the programs on it (core/model/gpu_memory.hpp).';
