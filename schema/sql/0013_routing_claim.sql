-- Routers decide outside of transactions: what one of them is deciding on the others leave to it for a while.

CREATE UNLOGGED TABLE routing_claim (
    replica text PRIMARY KEY,
    job_ids text[] NOT NULL,
    until timestamptz NOT NULL
);
COMMENT ON TABLE routing_claim IS 'The waiting jobs that each router decides on just now. A hint: who starts a job is settled by a lock on its row.';
