-- A job that a center refuses for whose it is goes elsewhere, and not there again.

ALTER TABLE job ADD COLUMN refused_centers text[];
COMMENT ON COLUMN job.refused_centers IS 'Ids of the centers that said that they have no local user for whose job it is, in the order in which they said so; the router leaves them out. NULL: none has.';
