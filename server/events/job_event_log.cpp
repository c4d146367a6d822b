#include "server/events/job_event_log.hpp"

#include "server/events/events_store.hpp"
#include "server/store/notifier.hpp"

namespace fathom::server {

void record_job_events(pqxx::work& transaction, const std::vector<NewJobEvent>& events)
{
    if (events.empty()) return;
    notify(transaction, "event", std::to_string(insert_job_events(transaction, events)));
}

} // namespace fathom::server
