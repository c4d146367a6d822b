-- Answers of submissions are made anew from the jobs that they made: specifications are stored once.

ALTER TABLE idempotency_key ADD COLUMN response_jobs text[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN idempotency_key.response_jobs IS 'The jobs that the request made, in its order; a repeat gets them as they were submitted. Empty: response_body is the answer.';
