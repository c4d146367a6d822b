-- Findings about probes that were dismissed, or that cost no trust, are removed when they are old (server/retention).

CREATE INDEX probe_finding_due ON probe_finding (found_at, id)
    WHERE dismissed_at IS NOT NULL OR kind NOT IN ('checksum', 'clock', 'rate'); -- retention: old enough
