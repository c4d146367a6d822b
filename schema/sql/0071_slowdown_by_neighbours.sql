-- What others on its host were expected to cost a run, which is in what was promised (docs/decisions/0053-runs-count-as-if-alone.md).

ALTER TABLE run_prediction
    ADD COLUMN host_slowdown double precision NOT NULL DEFAULT 1 CHECK (host_slowdown >= 1);
COMMENT ON COLUMN run_prediction.host_slowdown IS 'In promised_s: of the run beside those who were expected to hold cores of its host, over that alone; 1: nothing was known of what they cost. What later runs of the type are predicted by is what this one took without it, and without gpu_slowdown.';
