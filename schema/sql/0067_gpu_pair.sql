-- C2, C6: what jobs kept of the pace of their iterations beside each other, where both had the turn on a GPU at once.

CREATE TABLE gpu_pair (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run text NOT NULL UNIQUE CHECK (length(run) = 64),
    a_kind text NOT NULL CHECK (a_kind <> ''),
    b_kind text NOT NULL CHECK (b_kind <> ''),
    unit_type_id text NOT NULL REFERENCES unit_type (id),
    a_kept_pace double precision NOT NULL CHECK (a_kept_pace > 0),
    b_kept_pace double precision NOT NULL CHECK (b_kept_pace > 0),
    measured_count bigint NOT NULL CHECK (measured_count >= 1),
    measured_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE gpu_pair IS 'A row for two jobs, as the memory manager of their node measured them (core/decide/corun/turn_pairs.hpp). Rows outlive their jobs and name none. At most 16 for each two kinds, in this order, and unit type, and the newest 8192 (server/centers/gpu_pairs_store.hpp).';
COMMENT ON COLUMN gpu_pair.run IS 'A digest of the center and the two jobs, by which a repeated report changes the same row.';
COMMENT ON COLUMN gpu_pair.a_kind IS 'A digest of the type, submitter and project of the job whose id is less (AttemptOrder::gpu_kind).';
COMMENT ON COLUMN gpu_pair.a_kept_pace IS 'Of its pace alone, the mean of what was measured.';
COMMENT ON COLUMN gpu_pair.measured_count IS 'Times that both were measured.';
CREATE INDEX gpu_pair_of_kinds ON gpu_pair (a_kind, b_kind, unit_type_id, id DESC); -- older ones of the same pair go
CREATE INDEX gpu_pair_by_time ON gpu_pair (measured_at); -- whether one is new
