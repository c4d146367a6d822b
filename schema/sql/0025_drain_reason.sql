-- Why a center is drained: told to those whose jobs wait for it.
ALTER TABLE center ADD COLUMN drain_reason text NOT NULL DEFAULT '' CHECK (octet_length(drain_reason) <= 500);
COMMENT ON COLUMN center.drain_reason IS 'What who drained it said, for people; empty when it is not drained.';
