-- The trust in each unit type is judged by its own newest findings, however many others have (server/metering).

DROP INDEX probe_finding_open;
CREATE INDEX probe_finding_distrust ON probe_finding (unit_type_id, id DESC)
    WHERE dismissed_at IS NULL AND kind IN ('checksum', 'clock', 'rate'); -- trust: the newest of each unit type
CREATE INDEX probe_run_right ON probe_run (unit_type_id, ended_at)
    WHERE verification = 'right'; -- trust: what was found right since a finding
