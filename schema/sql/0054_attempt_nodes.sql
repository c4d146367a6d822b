-- Which hosts of its center an attempt ran on, where the center's batch system chose them.
ALTER TABLE attempt ADD COLUMN nodes text NOT NULL DEFAULT '' CHECK (length(nodes) <= 1000);
COMMENT ON COLUMN attempt.nodes IS 'Hosts that it ran on, as its center''s batch system writes lists of hosts, such as n[1-4]; longer lists are cut. Told with its end; empty: its center tells none.';
