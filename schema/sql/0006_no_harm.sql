-- One bad item never stops the rest, and nobody harms others.

ALTER TABLE job ADD COLUMN spec_bytes bigint GENERATED ALWAYS AS (octet_length(spec::text)) STORED;
COMMENT ON COLUMN job.spec_bytes IS 'Of the specification as text: what it takes to read it, and to send it to a center.';

CREATE TABLE agent_dead_letter (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    center_id text NOT NULL REFERENCES center (id),
    received_at timestamptz NOT NULL DEFAULT now(),
    attempt_id text NOT NULL DEFAULT '',
    message text NOT NULL,
    error text NOT NULL
);
COMMENT ON TABLE agent_dead_letter IS 'What a center said and could not be carried out, each time that it was tried; the center was told not to say it again.';
COMMENT ON COLUMN agent_dead_letter.message IS 'As it came, without the NUL characters that a text cannot hold; cut where it is very long.';
CREATE INDEX agent_dead_letter_center ON agent_dead_letter (center_id, received_at);

-- A gang is its submitter's: nobody else's job can join it, or keep it waiting.
DROP INDEX job_gang;
DROP INDEX job_gang_waiting;
CREATE INDEX job_gang ON job (project, submitted_by, gang, state) WHERE gang <> ''; -- how many of a gang wait, and how many are gone
CREATE INDEX job_gang_waiting ON job (project, submitted_by, gang, id) WHERE gang <> '' AND state IN ('queued', 'metering'); -- the claim of its oldest members
COMMENT ON COLUMN job.gang IS 'Jobs of one submitter and project with the same gang start together; empty: alone.';
