-- How busy its host was while a probe ran (docs/decisions/0030-load-from-ordinary-probes.md).
ALTER TABLE probe_run ADD COLUMN busy_cores double precision CHECK (busy_cores >= 0);
COMMENT ON COLUMN probe_run.busy_cores IS 'Cores of its host that other jobs of the network held, on average over the time that its job ran. Null: it has no result, the host is not known, or its center''s units are on many.';
