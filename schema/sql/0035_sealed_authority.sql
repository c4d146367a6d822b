-- Who has a dump of the database shall not have the network: the authority's key is encrypted with one that lies elsewhere.

ALTER TABLE authority ALTER COLUMN key_pem DROP NOT NULL;
ALTER TABLE authority ADD COLUMN sealed_key bytea;
ALTER TABLE authority ADD CONSTRAINT authority_has_one_key CHECK ((key_pem IS NULL) <> (sealed_key IS NULL));
COMMENT ON TABLE authority IS 'The network''s certificate authority. All replicas sign with it, so whoever can read this table and has the key of sealed_key can enrol agents.';
COMMENT ON COLUMN authority.key_pem IS 'The private key as an older fathomd wrote it; the next one that starts encrypts it.';
COMMENT ON COLUMN authority.sealed_key IS 'The private key, encrypted (server/identity/sealed_secret.hpp) with the key in the replicas'' authority_key_file, bound to certificate_pem.';
