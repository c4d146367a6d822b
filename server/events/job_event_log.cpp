#include "server/events/job_event_log.hpp"

#include "server/events/events_store.hpp"

namespace fathom::server {

void record_job_events(pqxx::work& transaction, const std::vector<NewJobEvent>& events)
{
    if (events.empty()) return;
    insert_job_events(transaction, events);
}

} // namespace fathom::server
