-- The audit log is read newest first, within times or not: all of it (audit_log_at), of an actor, of a kind of act, or of
-- what it was done to. With the time in each index, a page of what is rare within a long time does not read all of it.
DROP INDEX audit_log_actor;
DROP INDEX audit_log_action;
DROP INDEX audit_log_subject;
CREATE INDEX audit_log_actor ON audit_log (actor, at, id);     -- lists filtered by who did it
CREATE INDEX audit_log_action ON audit_log (action, at, id);   -- lists filtered by the kind of act
CREATE INDEX audit_log_subject ON audit_log (subject, at, id); -- lists filtered by what it was done to; acts noted once an hour
