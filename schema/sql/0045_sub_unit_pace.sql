-- How often an agent may ask for sub-units, change totals and refuse is bounded (server/sub_units).

CREATE INDEX sub_unit_event_of_actor ON sub_unit_event (actor, id)
    WHERE event IN ('asked', 'registered', 'refused'); -- what an agent did lately
