-- How busy its host was while a probe ran (docs/decisions/0030-load-from-ordinary-probes.md).
ALTER TABLE probe_run ADD COLUMN busy_cores double precision CHECK (busy_cores >= 0);
COMMENT ON COLUMN probe_run.busy_cores IS 'Cores of its host that other jobs of the network held, on average over the time that its job ran. Null: it has no result, the host is not known, or its center''s units are on many.';

-- What a job that moves data itself is predicted for is its program and these: what its type's runs take is told without.
ALTER TABLE run_prediction ADD COLUMN transfers_s double precision NOT NULL DEFAULT 0 CHECK (transfers_s >= 0);
COMMENT ON COLUMN run_prediction.transfers_s IS 'Of run_s, what a job that moves data itself was predicted to move it in; actual_run_s has what that really took. 0: it moves none, or its network was not known.';
