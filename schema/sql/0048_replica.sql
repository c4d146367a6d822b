-- Each replica says that it runs and which authorities it trusts, so that people see who follows a step of a replacement.

CREATE UNLOGGED TABLE replica (
    id text PRIMARY KEY,
    host text NOT NULL,
    version text NOT NULL,
    trusted_authorities text[] NOT NULL,
    trusted_since timestamptz NOT NULL DEFAULT now(),
    seen_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE replica IS 'The replicas of fathomd that run, or did until a short time ago. Each writes its own row; rows of those that are silent are removed by the others (server/identity/replica_record.hpp).';
COMMENT ON COLUMN replica.id IS 'Fresh at each start of fathomd.';
COMMENT ON COLUMN replica.host IS 'The name of the machine that it runs on, for people.';
COMMENT ON COLUMN replica.trusted_authorities IS 'SHA-256, in hex, of the authorities'' certificates that it trusts, the one that it signs with first.';
COMMENT ON COLUMN replica.trusted_since IS 'When it said for the first time that it trusts these.';
