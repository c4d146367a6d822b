-- Outcomes of attempts that clusters tell: no memory left, a node that failed, units taken away for other jobs.

ALTER TABLE attempt
    DROP CONSTRAINT attempt_outcome_check,
    ADD CONSTRAINT attempt_outcome_check
        CHECK (outcome IN ('exited', 'signalled', 'wall_limit', 'cancelled', 'failed_to_start', 'lost', 'out_of_memory',
                           'node_failure', 'preempted'));
COMMENT ON COLUMN attempt.outcome IS 'How it ended. lost, node_failure, preempted: through its center, so the job may be placed again and nobody pays.';
COMMENT ON COLUMN usage_record.payer IS 'network: probes. nobody: what ended through its center.';
COMMENT ON COLUMN probe_run.state IS 'lost: the center fell silent while it ran, or ended it; another run repeats it.';
