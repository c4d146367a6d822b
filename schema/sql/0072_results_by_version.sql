-- M17: the newest few results of each place count together. Results of one version of an operator say nothing of another,
-- so a place is a unit type, a count of units, an operator, a size and a version, and its newest few stand together in
-- the index: however many results a place has, no more of them are read than count.
DROP INDEX measurement_newest;
CREATE INDEX measurement_newest
    ON measurement (unit_type_id, unit_count, operator_id, parameters_key, operator_version, measured_at DESC, probe_run_id)
    WHERE void_reason = ''; -- the newest results of each place: the snapshot, scores, curves
