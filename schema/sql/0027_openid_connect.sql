-- People who sign in by an OpenID Connect provider, and sign-ins that are under way there.

ALTER TABLE user_account ALTER COLUMN password_hash DROP NOT NULL;
ALTER TABLE user_account
    ADD COLUMN issuer text CHECK (length(issuer) BETWEEN 1 AND 1000),
    ADD COLUMN subject text CHECK (length(subject) BETWEEN 1 AND 255),
    ADD CONSTRAINT user_account_one_way CHECK
        ((issuer IS NULL) = (subject IS NULL) AND (issuer IS NULL) = (password_hash IS NOT NULL));
COMMENT ON TABLE user_account IS 'Who may sign in, with a password or by a provider. Disabled while the identity is revoked.';
COMMENT ON COLUMN user_account.password_hash IS 'Argon2id in its encoded form, with salt and costs. NULL: signs in by a provider.';
COMMENT ON COLUMN user_account.issuer IS 'The provider, by the address that it calls itself. NULL: signs in with a password.';
COMMENT ON COLUMN user_account.subject IS 'Who it is there; the provider never gives it to anybody else.';
CREATE UNIQUE INDEX user_account_subject ON user_account (issuer, subject);  -- whose account it is, at each sign-in
CREATE INDEX api_token_name ON api_token (name);                            -- whether a name is free

CREATE TABLE oidc_sign_in (
    state_sha256 text PRIMARY KEY CHECK (length(state_sha256) = 64),
    browser_sha256 text NOT NULL CHECK (length(browser_sha256) = 64),
    nonce text NOT NULL,
    code_verifier text NOT NULL,
    return_to text NOT NULL CHECK (length(return_to) <= 1000),
    expires_at timestamptz NOT NULL
);
COMMENT ON TABLE oidc_sign_in IS 'Sign-ins that browsers have begun at the provider; removed when they come back, or are over.';
COMMENT ON COLUMN oidc_sign_in.browser_sha256 IS 'Of the cookie of the browser that began it, which alone may end it.';
COMMENT ON COLUMN oidc_sign_in.code_verifier IS 'PKCE (RFC 7636): shows the provider that the code is used by who asked for it.';
COMMENT ON COLUMN oidc_sign_in.return_to IS 'Path of the console to go on at.';
CREATE INDEX oidc_sign_in_expires_at ON oidc_sign_in (expires_at);  -- removed when over; the oldest of too many
