#include "server/probing/findings/findings_service.hpp"

#include "server/identity/audit.hpp"
#include "server/store/notifier.hpp"

namespace fathom::server {

asio::awaitable<Result<Page<FindingRecord>>> FindingsService::list(FindingFilter filter, std::int64_t size,
                                                                   std::string after)
{
    auto work = [&](pqxx::work& transaction) { return select_findings(transaction, filter, size, after); };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<FindingRecord>> FindingsService::dismiss(Caller caller, std::string id, std::string reason)
{
    auto work = [&](pqxx::work& transaction) -> Result<FindingRecord> {
        const Result<FindingRecord> found = select_finding(transaction, id);
        if (!found || found->dismissed_at) return found;
        dismiss_finding(transaction, found->id, caller.actor);
        audit(transaction, caller.actor, "probe_finding.dismiss", id, caller.request_id,
              {{"reason", reason}, {"kind", found->kind}, {"center_id", found->place.center_id.value}});
        notify(transaction, "catalog", found->place.center_id.value); // scores and routes follow trust
        return select_finding(transaction, id);
    };
    co_return co_await database_->run(std::move(work));
}

} // namespace fathom::server
