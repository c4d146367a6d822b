-- M19: what neighbours cost a copy, by the means of its samples (docs/decisions/0054-mean-of-copies.md). Copies that were
-- measured before, or are written by a replica of the version before, count by their medians.
ALTER TABLE copy_measurement
    ADD COLUMN slowdown double precision CHECK (slowdown > 0),
    ADD COLUMN slowdown_deviation double precision NOT NULL DEFAULT 0 CHECK (slowdown_deviation >= 0);
COMMENT ON COLUMN copy_measurement.slowdown IS 'Its time over that alone, of the means of the samples where these are enough (core/decide/statistics/slowdown.hpp). Null: median_s / alone_s.';
COMMENT ON COLUMN copy_measurement.slowdown_deviation IS 'Of ln(slowdown), as the samples'' scatter tells it; 0: not known.';
COMMENT ON COLUMN copy_measurement.beside_bubbles IS 'Of the first copy: its time while the others were bubbles, over that alone, with as much for bursts as in its slowdown. Null: there was no time or memory for it, or its fathom-probe is older.';
