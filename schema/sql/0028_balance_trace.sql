-- R10: what the loops that balance units at the centers have done, as the centers' agents told it.

CREATE TABLE balanced_unit (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    center_id text NOT NULL REFERENCES center (id),
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 128),
    last_number bigint NOT NULL DEFAULT 0 CHECK (last_number >= 0),
    dropped_count bigint NOT NULL DEFAULT 0 CHECK (dropped_count >= 0),
    told_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (center_id, name)
);
COMMENT ON TABLE balanced_unit IS 'Units whose transfer and compute a loop at the center balances. Goes with its last step.';
COMMENT ON COLUMN balanced_unit.name IS 'As the center''s settings name it; it need not be a unit type''s.';
COMMENT ON COLUMN balanced_unit.last_number IS 'Of its newest step. Whoever adds steps locks the row, so that numbers ascend as they are committed.';
COMMENT ON COLUMN balanced_unit.dropped_count IS 'Steps of its center that were dropped before its own were told: there were too many.';
COMMENT ON COLUMN balanced_unit.told_at IS 'When the agent last told a step.';

CREATE TABLE balance_step (
    unit_id bigint NOT NULL REFERENCES balanced_unit (id),
    number bigint NOT NULL CHECK (number > 0),
    at timestamptz NOT NULL,
    told_at timestamptz NOT NULL DEFAULT now(),
    attempt_id text NOT NULL,
    step jsonb NOT NULL,
    PRIMARY KEY (unit_id, number)
);
COMMENT ON TABLE balance_step IS 'One sampling period of a unit''s loop. The newest so many of each unit are kept, for so many days (server/retention).';
COMMENT ON COLUMN balance_step.number IS 'Ascends with time; numbers may be missing.';
COMMENT ON COLUMN balance_step.at IS 'By the center''s clock.';
COMMENT ON COLUMN balance_step.attempt_id IS 'The center''s word; empty: it named none.';
COMMENT ON COLUMN balance_step.step IS 'Figures and actions (core/model/balance_step.hpp), without what has columns here.';
CREATE UNIQUE INDEX balance_step_time ON balance_step (unit_id, at); -- a message that comes again adds nothing
