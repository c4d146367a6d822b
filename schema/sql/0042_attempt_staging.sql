-- How long attempts fetched inputs and stored outputs, which is not their programs' time.
ALTER TABLE attempt ADD COLUMN staging jsonb;
COMMENT ON COLUMN attempt.staging IS 'What its center says that staging took of run_s: in_s, in_bytes, in_cached_bytes, out_s and out_bytes (seconds, bytes); null: no inputs and outputs, or nothing was said.';
COMMENT ON COLUMN attempt.run_s IS 'Seconds that it held its units: with staging, and with what its profiler did.';
COMMENT ON COLUMN run_prediction.actual_run_s IS 'Of the program itself: neither what its profile took beside it is in it, nor staging. Of a job that moves data, whose prediction has transfers in it, staging is.';
