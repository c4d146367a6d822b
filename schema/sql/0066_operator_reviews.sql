-- Operators of centers: what a center's key signed stands here until an admin of the network has reviewed it.
ALTER TABLE operator_key ADD COLUMN center_id text REFERENCES center (id);
COMMENT ON COLUMN operator_key.center_id IS 'The center whose expert has it: what it signs is reviewed before it is used. NULL: of the network, whose uploads are used at once.';

CREATE TABLE operator_review (
    id text PRIMARY KEY,
    operator_id text NOT NULL,
    operator_version bigint NOT NULL CHECK (operator_version >= 1),
    center_id text NOT NULL REFERENCES center (id),
    key_id text NOT NULL REFERENCES operator_key (id),
    manifest jsonb NOT NULL,
    package text,
    object_sha256 text NOT NULL CHECK (length(object_sha256) = 64),
    object_bytes bigint NOT NULL CHECK (object_bytes > 0),
    state text NOT NULL DEFAULT 'awaiting_review' CHECK (state IN ('awaiting_review', 'approved', 'rejected')),
    submitted_at timestamptz NOT NULL DEFAULT now(),
    submitted_by text NOT NULL,
    decided_at timestamptz,
    decided_by text,
    reason text NOT NULL DEFAULT '' CHECK (length(reason) <= 1000),
    CHECK ((state = 'awaiting_review') = (decided_at IS NULL)),
    CHECK ((decided_at IS NULL) = (decided_by IS NULL)),
    CHECK ((state = 'awaiting_review') = (package IS NOT NULL))
);
COMMENT ON TABLE operator_review IS 'One operator version that a center has submitted. Nothing uses it before it is approved: then it becomes a row of operator and of operator_package.';
COMMENT ON COLUMN operator_review.package IS 'JSON as it was signed, until it is decided on.';
COMMENT ON COLUMN operator_review.reason IS 'Of a rejection, for whoever submitted it.';
-- Versions of an operator follow each other, so one of each waits.
CREATE UNIQUE INDEX operator_review_waiting ON operator_review (operator_id) WHERE state = 'awaiting_review';
CREATE INDEX operator_review_by_state ON operator_review (state, id);
CREATE INDEX operator_review_of_center ON operator_review (center_id, state, id);
