-- Values that are for a job alone: they are never shown, and gone when it has ended.

ALTER TABLE job ADD COLUMN secret_environment text;
COMMENT ON COLUMN job.secret_environment IS 'Values of its secret environment as a JSON object, until it has ended; their names are in spec.';

CREATE FUNCTION forget_secret_environment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.secret_environment := NULL;
    RETURN NEW;
END $$;
CREATE TRIGGER forget_secret_environment BEFORE UPDATE OF state ON job FOR EACH ROW
    WHEN (NEW.secret_environment IS NOT NULL AND NEW.state IN ('succeeded', 'failed', 'cancelled'))
    EXECUTE FUNCTION forget_secret_environment();
