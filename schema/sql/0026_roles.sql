-- Roles of those who run the network, who account for it and who look after what was done, beside the four before.
ALTER TABLE api_token DROP CONSTRAINT api_token_role_check;
ALTER TABLE api_token ADD CONSTRAINT api_token_role_check
    CHECK (role IN ('admin', 'operator', 'expert', 'billing', 'auditor', 'user', 'viewer'));
