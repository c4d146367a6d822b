-- A rate of memory needs arrays that are large beside the caches (docs/decisions/0024-arrays-beyond-caches.md).

ALTER TABLE measurement ADD COLUMN cache_verdict text NOT NULL DEFAULT '';
COMMENT ON COLUMN measurement.cache_verdict IS 'Not empty: the operator is to measure memory, but its arrays were too small beside the caches; why, for people. Not scored as memory; the time holds for this size.';

ALTER TABLE unit_type ADD COLUMN last_level_caches_bytes bigint CHECK (last_level_caches_bytes > 0);
COMMENT ON COLUMN unit_type.last_level_caches_bytes IS 'Bytes of all last-level caches that the processors of one unit share, as the newest probe on one unit saw them. Null: not known.';
