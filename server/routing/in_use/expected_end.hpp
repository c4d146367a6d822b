#pragma once

// Literals, so that statements are joined by the compiler and stay constants.

/// SQL: when the attempt `a` should end as of the moment `now`, null where nobody knows: what waits in its center's
/// batch system (FATHOM_JOIN_ATTEMPT_QUEUE) ends a run after the start that is planned there. By CASE, since greatest()
/// passes over what is null.
#define FATHOM_EXPECTED_END(now)                                                                                       \
    "coalesce(CASE WHEN q.expected_start IS NOT NULL "                                                                 \
    "THEN greatest(q.expected_start, " now ") + (a.expected_end_at - a.created_at) END, "                              \
    "a.expected_end_at, a.created_at)"

/// SQL: what the batch system told last of the attempt `a`, while it waits there.
#define FATHOM_JOIN_ATTEMPT_QUEUE                                                                                      \
    "LEFT JOIN attempt_queue q ON q.attempt_id = a.id AND a.state = 'dispatched' AND a.queued_until IS NULL "          \
    "AND q.expected_start IS NOT NULL"
