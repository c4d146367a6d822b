-- Jobs that share no device (units.sharing: exclusive).

ALTER TABLE attempt ADD COLUMN is_exclusive boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN attempt.is_exclusive IS 'Its units are whole devices, of which no other attempt has a part: what is free of whole devices is counted by it until its center has told which units it got.';
