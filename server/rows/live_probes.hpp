#pragma once

// A literal, so that statements are joined by the compiler and stay constants.

/// SQL for a FROM clause: centers `c` with the attempts `o` of probes `p` that run there, are on their way, or have
/// units and wait until they are sent. One that was sent counts for as long as its program can run: a silent center
/// keeps its host from nobody for ever. One that waits for a center that is not heard keeps its host from nobody.
#define FATHOM_LIVE_PROBES                                                                                             \
    "center c JOIN attempt o ON o.center_id = c.id AND o.state <> 'ended' "                                            \
    "JOIN job p ON p.id = o.job_id AND p.label = 'probe' AND CASE WHEN o.dispatched_at IS NULL "                       \
    "THEN c.state = 'online' AND c.revoked_at IS NULL AND p.cancel_requested_at IS NULL "                              \
    "ELSE coalesce(o.started_at, o.dispatched_at) + interval '30 seconds' "                                            \
    "+ coalesce((p.spec ->> 'wall_limit_s')::float8, 0) * interval '1 second' > now() END"
