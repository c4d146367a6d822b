-- M17: the newest few results of each place count together. Results of one version of an operator say nothing of another,
-- so a place is a unit type, a count of units, an operator, a size and a version, and its newest few stand together in
-- the index: however many results a place has, no more of them are read than count.
-- The new index first: replicas that live read by the old one meanwhile, and the table is locked for them only at the end.
CREATE INDEX measurement_newest_of_version
    ON measurement (unit_type_id, unit_count, operator_id, parameters_key, operator_version, measured_at DESC, probe_run_id)
    WHERE void_reason = ''; -- the newest results of each place: the snapshot, scores, curves
DROP INDEX measurement_newest;
ALTER INDEX measurement_newest_of_version RENAME TO measurement_newest;
