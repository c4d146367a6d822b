-- What programs compute in threads of their own is measured with one thread, too, on units of several cores.

ALTER TABLE measurement
    ADD COLUMN one_thread_median_s double precision,
    ADD COLUMN one_thread_ci_low_s double precision,
    ADD COLUMN one_thread_ci_high_s double precision,
    ADD CHECK (one_thread_median_s > 0);
COMMENT ON COLUMN measurement.one_thread_median_s IS 'Seconds per execution with one thread, for the size in parameters. Null: not measured, as on units of one core.';
