-- People who sign in to the console with a name and a password, and the sessions of their browsers.

-- An account's identity is a row of api_token that no secret opens: jobs, members of projects and the audit log name it
-- as they name tokens.
ALTER TABLE api_token ADD COLUMN kind text NOT NULL DEFAULT 'token' CHECK (kind IN ('token', 'account'));
COMMENT ON COLUMN api_token.kind IS 'account: the identity of a user_account; its secret is known to nobody.';

CREATE TABLE user_account (
    name text PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 64),
    token_id text NOT NULL UNIQUE REFERENCES api_token (id),
    password_hash text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    last_sign_in_at timestamptz
);
COMMENT ON TABLE user_account IS 'Who may sign in with a password. Disabled while the identity is revoked.';
COMMENT ON COLUMN user_account.password_hash IS 'Argon2id in its encoded form, with salt and costs.';

CREATE TABLE web_session (
    secret_sha256 text PRIMARY KEY CHECK (length(secret_sha256) = 64),
    token_id text NOT NULL REFERENCES api_token (id),
    account text REFERENCES user_account (name) ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL
);
COMMENT ON TABLE web_session IS 'Browsers that are signed in, by the SHA-256 of the secret in their cookie.';
COMMENT ON COLUMN web_session.account IS 'NULL: signed in with an API token.';
CREATE INDEX web_session_token ON web_session (token_id, created_at);  -- the oldest of somebody who has too many
CREATE INDEX web_session_account ON web_session (account);             -- ended with the account or its password
CREATE INDEX web_session_expires_at ON web_session (expires_at);       -- removed when over

-- The audit log is read newest first: all of it, of an actor, of a kind of act, or of what it was done to.
CREATE INDEX audit_log_actor ON audit_log (actor, id);
CREATE INDEX audit_log_action ON audit_log (action, id);
CREATE INDEX audit_log_subject ON audit_log (subject, id);

-- A chain of hashes over the audit log, so that what was changed or left out afterwards is found. A duty chains what has
-- been committed, in order of time: an act need not wait for another's transaction.
ALTER TABLE audit_log ADD COLUMN chain_number bigint UNIQUE, ADD COLUMN chain_sha256 text;
COMMENT ON COLUMN audit_log.chain_number IS 'From 1, without gaps; NULL for a few seconds, until it is chained.';
COMMENT ON COLUMN audit_log.chain_sha256 IS 'Over the previous one and this row; server/identity/audit_chain says of what text.';
CREATE INDEX audit_log_unchained ON audit_log (at, id) WHERE chain_number IS NULL;

CREATE TABLE audit_chain (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    first_number bigint NOT NULL DEFAULT 0,
    first_sha256 text NOT NULL DEFAULT repeat('0', 64),
    last_number bigint NOT NULL DEFAULT 0,
    last_sha256 text NOT NULL DEFAULT repeat('0', 64)
);
COMMENT ON TABLE audit_chain IS 'Where the chain ends, and what retention has removed up to: the last number that is gone, and its hash.';
INSERT INTO audit_chain DEFAULT VALUES;

CREATE FUNCTION keep_audit_log() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.chain_number IS NOT NULL OR (OLD.id, OLD.at, OLD.actor, OLD.action, OLD.subject, OLD.request_id, OLD.detail)
       IS DISTINCT FROM (NEW.id, NEW.at, NEW.actor, NEW.action, NEW.subject, NEW.request_id, NEW.detail) THEN
        RAISE EXCEPTION 'the audit log is not changed';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER keep_audit_log BEFORE UPDATE ON audit_log FOR EACH ROW EXECUTE FUNCTION keep_audit_log();
