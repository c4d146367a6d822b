-- Each replica keeps in memory what was measured, and reads again only what has changed since.

CREATE TABLE measurement_change (
    unit_type_id text PRIMARY KEY REFERENCES unit_type (id) ON DELETE CASCADE,
    version bigint NOT NULL
);
COMMENT ON TABLE measurement_change IS 'Of each unit type that was ever measured: another version, other measurements.';
INSERT INTO measurement_change (unit_type_id, version) SELECT DISTINCT unit_type_id, 1 FROM measurement;

CREATE FUNCTION note_measurement_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- In order, so that two writers do not wait for each other.
    INSERT INTO measurement_change (unit_type_id, version) SELECT DISTINCT unit_type_id, 1 FROM changed ORDER BY unit_type_id
    ON CONFLICT (unit_type_id) DO UPDATE SET version = measurement_change.version + 1;
    RETURN NULL;
END $$;
CREATE TRIGGER measurement_is_new AFTER INSERT ON measurement
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_measurement_change();
CREATE TRIGGER measurement_is_changed AFTER UPDATE ON measurement
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_measurement_change();
CREATE TRIGGER measurement_is_gone AFTER DELETE ON measurement
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_measurement_change();
