-- The network's authority can be replaced while agents of both work.

ALTER TABLE authority DROP COLUMN only_one;
ALTER TABLE authority ADD COLUMN role text NOT NULL DEFAULT 'current' PRIMARY KEY CHECK (role IN ('current', 'next', 'past'));
ALTER TABLE authority ADD COLUMN role_since timestamptz;
UPDATE authority SET role_since = created_at;
ALTER TABLE authority ALTER COLUMN role_since SET NOT NULL, ALTER COLUMN role_since SET DEFAULT now();
ALTER TABLE authority ADD COLUMN renew_within_s bigint NOT NULL DEFAULT 1 CHECK (renew_within_s > 0);
COMMENT ON TABLE authority IS 'The network''s certificate authorities. All replicas sign with the current one, so whoever can read this table and has the key of sealed_key can enrol agents.';
COMMENT ON COLUMN authority.role IS 'current: signs. next: trusted already, will sign. past: trusted still, signs no more. There is never a next beside a past.';
COMMENT ON COLUMN authority.renew_within_s IS 'Over how many seconds agents spread the renewal of their certificates once this is the current one.';

ALTER TABLE center ADD COLUMN certificate_authority text;
ALTER TABLE center ADD COLUMN trusted_authorities text[];
COMMENT ON COLUMN center.certificate_authority IS 'SHA-256, in hex, of the certificate of the authority that signed certificate_serial. Null: the one that there was before rotations.';
COMMENT ON COLUMN center.trusted_authorities IS 'SHA-256, in hex, of the authorities'' certificates that the agent keeps, as it said last. Null: it has not said, as an older one.';
