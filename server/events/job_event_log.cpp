#include "server/events/job_event_log.hpp"

#include "server/events/events_store.hpp"
#include "server/store/notifier.hpp"

namespace fathom::server {

void record_job_events(pqxx::work& transaction, const std::vector<NewJobEvent>& events)
{
    if (!events.empty()) insert_job_events(transaction, events, false);
}

void record_job_changes(pqxx::work& transaction, const JobChanges& changes)
{
    if (!changes.events.empty())
        insert_job_events(transaction, changes.events, changes.wakes_router);
    else if (changes.wakes_router)
        notify(transaction, "route", "");
}

} // namespace fathom::server
