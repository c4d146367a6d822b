-- Experts change and upload operators: where a version came from, signed packages, and the keys that are trusted.

ALTER TABLE operator
    ADD COLUMN origin text NOT NULL DEFAULT 'built_in' CHECK (origin IN ('built_in', 'expert', 'uploaded')),
    ADD COLUMN created_by text NOT NULL DEFAULT 'fathom',
    ADD COLUMN withdrawn_by text,
    ADD CONSTRAINT operator_withdrawn_by_someone CHECK ((withdrawn_at IS NULL) = (withdrawn_by IS NULL));
COMMENT ON COLUMN operator.origin IS 'built_in: came with a release. expert: a changed manifest that the built-in code serves. uploaded: its code is in operator_package.';
COMMENT ON COLUMN operator.withdrawn_at IS 'From then on no new task may use this version. It stays readable: results name it.';
CREATE INDEX operator_uploaded ON operator (id) WHERE origin = 'uploaded' AND withdrawn_at IS NULL; -- unit_type_support

CREATE TABLE operator_key (
    id text PRIMARY KEY CHECK (id ~ '^[0-9a-f]{16}$'),
    name text NOT NULL,
    public_key_pem text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    created_by text NOT NULL,
    revoked_at timestamptz,
    revoked_by text,
    CHECK ((revoked_at IS NULL) = (revoked_by IS NULL))
);
COMMENT ON TABLE operator_key IS 'Ed25519 keys whose holders may upload operators. A revoked key stays: packages name the key that signed them.';
COMMENT ON COLUMN operator_key.id IS 'The first 16 hex digits of the SHA-256 of the raw public key.';

CREATE TABLE operator_package (
    operator_id text NOT NULL,
    operator_version bigint NOT NULL,
    package text NOT NULL,
    object_sha256 text NOT NULL CHECK (length(object_sha256) = 64),
    object_bytes bigint NOT NULL CHECK (object_bytes > 0),
    key_id text NOT NULL REFERENCES operator_key (id),
    PRIMARY KEY (operator_id, operator_version),
    FOREIGN KEY (operator_id, operator_version) REFERENCES operator (id, version)
);
COMMENT ON TABLE operator_package IS 'The code of uploaded operators.';
COMMENT ON COLUMN operator_package.package IS 'JSON as it was signed and goes to the agents (core/model/operator_package.hpp).';
CREATE INDEX operator_package_of_key ON operator_package (key_id); -- which operators a key signed

-- One place for what units can run: routing and probing both read it.
CREATE VIEW unit_type_support AS
    SELECT u.id AS unit_type_id,
           CASE WHEN u.facts @> '{"accepts_uploads": true}'
                THEN ARRAY(SELECT unnest(u.operators)
                           UNION
                           SELECT o.id FROM operator o
                           WHERE o.origin = 'uploaded' AND o.withdrawn_at IS NULL
                             AND o.manifest -> 'implementations'
                                 @> jsonb_build_array(jsonb_build_object('resource_type', u.resource_type)))
                ELSE u.operators END AS operators
    FROM unit_type u;
COMMENT ON VIEW unit_type_support IS 'Ids of the operators that units of a type can run: those that the agent reported, and uploaded ones where it accepts them.';
