-- Comments name things as the glossary does; tables and columns keep their names, which replicas of the version before read.
COMMENT ON TABLE job_lesson IS 'The learning queue: jobs that ended and that their types have yet to learn from, so that ends stay fast. A periodic task takes them.';
COMMENT ON COLUMN job.turn IS 'Priority rank, smaller goes first; set by the router when it orders waiting jobs. 0: not ordered yet, so looked at first.';
COMMENT ON TABLE unit_load IS 'How busy the units of each type have been of late, and their shadow prices to the jobs that come.';
COMMENT ON COLUMN unit_load.worth IS 'Shadow price: against the mean of the network, 1, by the newest jobs; null: none of them could go there.';
COMMENT ON TABLE unit_load_look IS 'When unit_load was brought up to date last, and the newest job that its shadow prices know. One row.';
COMMENT ON COLUMN run_prediction.promised_s IS 'Raw prediction: what measurements alone let expect; 0: nothing, or the job moves data, whose time nobody tells apart. run_s is what was predicted, corrected by history; 0: nothing.';
COMMENT ON TABLE probe_finding IS 'Quarantined results of centers, and why. checksum, clock and rate cannot come about honestly, and cost trust until an expert dismisses them.';
