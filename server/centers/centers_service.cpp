#include "server/centers/centers_service.hpp"

#include "core/base/log.hpp"
#include "server/centers/center_change.hpp"
#include "server/identity/audit.hpp"
#include "server/store/notifier.hpp"
#include "server/store/transaction.hpp"

namespace fathom::server {
namespace {

Error no_such_center()
{
    return Error{Errc::kNotFound, "no such center"};
}

} // namespace

asio::awaitable<Result<Page<CenterRecord>>> CentersService::list(std::int64_t size, std::string after)
{
    auto work = [&](pqxx::work& transaction) -> Result<Page<CenterRecord>> {
        return select_centers(transaction, size, after);
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<CenterRecord>> CentersService::get(std::string key)
{
    auto work = [&](pqxx::work& transaction) -> Result<CenterRecord> {
        const std::optional<CenterRecord> center = select_center(transaction, key);
        if (!center) return no_such_center();
        return *center;
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<std::optional<CenterRecord>>> CentersService::change(Caller caller, std::string key,
                                                                            CenterChange change, VersionRule rule)
{
    auto work = [&](pqxx::work& transaction) -> Result<std::optional<CenterRecord>> {
        const std::optional<CenterRecord> center = lock_center(transaction, key);
        if (!center) return no_such_center();
        if (!rule(center->version)) return std::optional<CenterRecord>();
        const bool is_reason = change.drain_reason && *change.drain_reason != center->drain_reason;
        const bool is_drain = change.drained && (*change.drained != center->drained || is_reason);
        const bool is_share = change.probe_share && *change.probe_share != center->probe_budget.share;
        if (!is_drain && !is_share) return center;
        update_center(transaction, center->id, change);
        if (is_drain)
            audit(transaction, caller.actor, *change.drained ? "center.drain" : "center.undrain", center->id.value,
                  caller.request_id, {{"center_name", center->name}, {"reason", change.drain_reason.value_or("")}});
        if (is_share)
            audit(transaction, caller.actor, "center.probe_share", center->id.value, caller.request_id,
                  {{"center_name", center->name}, {"from", center->probe_budget.share}, {"to", *change.probe_share}});
        announce_center(transaction, center->id);
        return select_center(transaction, center->id.value);
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<CenterRecord>> CentersService::release(Caller caller, std::string key)
{
    auto work = [&](pqxx::work& transaction) -> Result<CenterRecord> {
        const std::optional<CenterRecord> center = lock_center(transaction, key);
        if (!center) return no_such_center();
        release_center(transaction, caller, center->id, {{"quarantine_reason", center->quarantine_reason}});
        return select_center(transaction, center->id.value).value();
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<CenterRecord>> CentersService::revoke(Caller caller, std::string key)
{
    auto work = [&](pqxx::work& transaction) -> Result<CenterRecord> {
        const std::optional<CenterRecord> center = lock_center(transaction, key);
        if (!center) return no_such_center();
        if (center->revoked_at) return *center;
        update_revoked(transaction, center->id);
        audit(transaction, caller.actor, "center.revoke", center->id.value, caller.request_id,
              {{"center_name", center->name}});
        announce_center(transaction, center->id);
        return select_center(transaction, center->id.value).value();
    };
    Result<CenterRecord> center = co_await database_->run(std::move(work));
    if (center) log_warning("center_revoked", {{"center", center->name}, {"center_id", center->id.value}});
    co_return center;
}

asio::awaitable<Result<Page<UnitTypeRecord>>> CentersService::list_unit_types(std::string center, std::int64_t size,
                                                                              std::string after, UnitTypesWanted wanted)
{
    auto work = [&](pqxx::work& transaction) -> Result<Page<UnitTypeRecord>> {
        return select_unit_types(transaction, center, size, after, wanted);
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<UnitTypeRecord>> CentersService::get_unit_type(std::string id)
{
    auto work = [&](pqxx::work& transaction) -> Result<UnitTypeRecord> {
        const std::optional<UnitTypeRecord> unit_type = select_unit_type(transaction, UnitTypeId{id});
        if (!unit_type) return Error{Errc::kNotFound, "no such unit type"};
        return *unit_type;
    };
    co_return co_await database_->run(std::move(work));
}

} // namespace fathom::server
