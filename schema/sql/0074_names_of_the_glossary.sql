-- Names as the glossary has them (docs/glossary.md). Replicas of the version before, which live on while the replicas are
-- replaced, find what they read and write by the former names: columns that triggers keep equal, or views. The first
-- migration of the next version removes these. Documents in jsonb that are kept without bound stay as they were written,
-- and are read by both names.

-- likeness: similarity. What older replicas report of it meanwhile lacks the rows of before.
ALTER TABLE operator_outcome RENAME COLUMN likeness TO similarity;
ALTER TABLE operator_outcome RENAME CONSTRAINT operator_outcome_likeness_check TO operator_outcome_similarity_check;
COMMENT ON COLUMN operator_outcome.similarity IS 'How much of the time of its calls goes as the operator does; 1: they are its calls.';
COMMENT ON COLUMN job_type.own_loops IS 'Loops of the program''s own code in the profile that the type was learned from, each with its share, the nearest operator and the similarity; NULL: there was no profile.';
ALTER TABLE operator_outcome ADD COLUMN likeness double precision;
COMMENT ON COLUMN operator_outcome.likeness IS 'similarity, for replicas of the version before.';
CREATE FUNCTION name_similarity() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.similarity := coalesce(NEW.similarity, NEW.likeness);
    NEW.likeness := NEW.similarity;
    RETURN NEW;
END $$;
CREATE TRIGGER name_similarity BEFORE INSERT ON operator_outcome FOR EACH ROW EXECUTE FUNCTION name_similarity();
-- A few kilobytes a type, and as many types as jobs were submitted by: about a second for ten thousand.
CREATE FUNCTION with_similarity(list jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT jsonb_agg(CASE WHEN item ? 'likeness' THEN item - 'likeness' || jsonb_build_object('similarity', item -> 'likeness')
                          ELSE item END ORDER BY number)
    FROM jsonb_array_elements(list) WITH ORDINALITY AS items (item, number)
$$;
UPDATE job_type SET own_loops = with_similarity(own_loops)
WHERE own_loops @? '$[*].likeness';
UPDATE job_type SET known_run = jsonb_set(known_run, '{operators}', with_similarity(known_run -> 'operators'))
WHERE known_run @? '$.operators[*].likeness';
DROP FUNCTION with_similarity(jsonb);
