-- Reading files that a center keeps a copy of (outputs of jobs), piece by piece, through its agent's session.
-- Not logged: a piece is of use for seconds, to one request.
CREATE UNLOGGED TABLE kept_file_question (
    id text PRIMARY KEY CHECK (id ~ '^msg_'),
    center_id text NOT NULL REFERENCES center (id) ON DELETE CASCADE,
    sha256 text NOT NULL CHECK (sha256 ~ '^[0-9a-f]{64}$'),
    offset_bytes bigint NOT NULL CHECK (offset_bytes >= 0),
    most_bytes integer NOT NULL CHECK (most_bytes BETWEEN 1 AND 262144),
    expires_at timestamptz NOT NULL,
    piece bytea,
    refusal_code text NOT NULL DEFAULT '',
    refusal text NOT NULL DEFAULT ''
);
ALTER TABLE kept_file_question ALTER COLUMN piece SET STORAGE EXTERNAL; -- what is worth compressing is so already
COMMENT ON TABLE kept_file_question IS 'Bytes of a kept file that a request waits for: read by the replica that has the connection of the center''s agent, removed by the one that asked.';
COMMENT ON COLUMN kept_file_question.sha256 IS 'Of the file''s content, by which its center knows it.';
COMMENT ON COLUMN kept_file_question.most_bytes IS 'How many are wanted; fewer come where the file ends.';
COMMENT ON COLUMN kept_file_question.piece IS 'The bytes, once they have come.';
COMMENT ON COLUMN kept_file_question.refusal IS 'Not empty: why none come, for people; its class is refusal_code, not_found or unavailable.';
CREATE INDEX kept_file_question_open ON kept_file_question (center_id, id) WHERE piece IS NULL AND refusal = ''; -- a session that is woken
CREATE INDEX kept_file_question_expired ON kept_file_question (expires_at); -- of a replica that stopped while it waited
