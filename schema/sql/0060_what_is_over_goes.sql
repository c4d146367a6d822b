-- What is over is removed by its age: reservations and maintenance windows, types of jobs that are gone with the probe
-- tasks that were made for them, and notes of copies of outputs that the router no longer believes in (server/retention).
CREATE INDEX advance_reservation_over ON advance_reservation (least(ends_at, cancelled_at), id) WHERE metered; -- retention
CREATE INDEX maintenance_window_over ON maintenance_window (least(ends_at, cancelled_at), id); -- retention
CREATE INDEX probe_task_learned ON probe_task (state_changed_at) WHERE origin = 'job'; -- retention
CREATE INDEX probe_task_scaled ON probe_task (scaled_to) WHERE scaled_to IS NOT NULL; -- removal of a task: what refers to it
CREATE INDEX job_type_of_task ON job_type (probe_task_id) WHERE probe_task_id IS NOT NULL; -- likewise
CREATE INDEX kept_output_told ON kept_output (told_at); -- retention
COMMENT ON TABLE kept_output IS 'Centers that have fetched an output as an input of a later job, and keep a copy, as far as is known. Goes eight days after it was told last; with its job at the latest.';
