#pragma once

namespace fathom::server {

class ApiRouter;
class EventsService;

/// GET /events (server-sent events) and GET /jobs/{id}/events. The service must outlive the router.
void add_events_routes(ApiRouter& api, EventsService& events);

} // namespace fathom::server
