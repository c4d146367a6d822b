-- Probes of one host run one after the other, whichever centers they are of.

ALTER TABLE center ADD COLUMN host_id text;
COMMENT ON COLUMN center.host_id IS 'Hash of the host that the center''s jobs run on, as its agent said last; centers with the same share the host. Null: the agent does not know it, or is an older one.';
CREATE INDEX center_of_host ON center (host_id) WHERE host_id IS NOT NULL; -- whose probes wait for each other
