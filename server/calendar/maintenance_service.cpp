#include "server/calendar/maintenance_service.hpp"

#include "server/calendar/reservation_store.hpp"
#include "server/identity/audit.hpp"
#include "server/store/notifier.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

/// The router lays each of them into its view of the center.
constexpr std::int64_t kMaxOpenMaintenance = 1000;
constexpr std::size_t kMaxNamed = 20;

std::vector<MetReservation> find_met(pqxx::work& transaction, const std::vector<BookableUnits>& units,
                                     const Period& period)
{
    std::vector<MetReservation> met;
    for (const BookableUnits& one : units) {
        std::vector<MetReservation> here = select_met_reservations(transaction, one.unit_type_id, period);
        met.insert(met.end(), here.begin(), here.end());
    }
    return met;
}

Error in_the_way(const std::vector<MetReservation>& met)
{
    Error error(Errc::kConflict, std::to_string(met.size()) +
                                     (met.size() == 1 ? " reservation lies" : " reservations lie") +
                                     " in that time; cancel_reservations cancels what lies there");
    for (const MetReservation& one : met) {
        if (error.fields.size() == kMaxNamed) break;
        error.fields.push_back({"ends_at", one.id.value + ": " + std::to_string(one.unit_count) +
                                               (one.unit_count == 1 ? " unit" : " units") + " for project " +
                                               one.project});
    }
    return error;
}

Result<MaintenanceService::Planned> plan_in(pqxx::work& transaction, const Caller& caller,
                                            const MaintenanceService::Wanted& wanted)
{
    const std::vector<BookableUnits> units = lock_bookable_units(transaction, wanted.center, wanted.unit_type);
    if (units.empty())
        return Error(Errc::kInvalid, "the maintenance has 1 error",
                     {{wanted.unit_type.empty() ? "center" : "unit_type",
                       wanted.unit_type.empty() ? "there is no center " + wanted.center + " that offers units"
                                                : wanted.center + " offers no unit type " + wanted.unit_type}});
    const std::string& center_id = units.front().center_id.value;
    if (count_open_maintenance(transaction, center_id) >= kMaxOpenMaintenance)
        return Error(Errc::kTooMany,
                     "this center has " + std::to_string(kMaxOpenMaintenance) + " maintenance windows already");
    const std::vector<MetReservation> met = find_met(transaction, units, wanted.period);
    if (!met.empty() && wanted.reservations == MaintenanceService::Reservations::kRespect) return in_the_way(met);
    MaintenanceService::Planned planned;
    for (const MetReservation& one : met) {
        update_to_cancelled(transaction, one.id);
        audit(transaction, caller.actor, "reservation.cancel", one.id.value, caller.request_id,
              {{"project", one.project}, {"for", "maintenance"}});
        planned.cancelled_reservations.push_back(one.id.value);
    }
    const NewMaintenance fresh{.id = MaintenanceId::make(),
                               .center_id = center_id,
                               .unit_type_id = wanted.unit_type.empty() ? "" : units.front().unit_type_id.value,
                               .period = wanted.period,
                               .reason = wanted.reason,
                               .created_by = caller.actor};
    insert_maintenance(transaction, fresh);
    audit(transaction, caller.actor, "maintenance.plan", fresh.id.value, caller.request_id,
          {{"center_id", center_id},
           {"unit_type_id", fresh.unit_type_id},
           {"starts_at", format_rfc3339(fresh.period.starts_at)},
           {"ends_at", format_rfc3339(fresh.period.ends_at)}});
    notify(transaction, "catalog", "");
    planned.maintenance = select_maintenance(transaction, fresh.id.value).value();
    return planned;
}

Result<MaintenanceWindow> cancel_in(pqxx::work& transaction, const Caller& caller, const std::string& id)
{
    std::optional<MaintenanceWindow> maintenance = lock_maintenance(transaction, id);
    if (!maintenance) return Error(Errc::kNotFound, "there is no such maintenance window");
    if (maintenance->state == "cancelled") return std::move(*maintenance);
    if (maintenance->state == "ended") return Error(Errc::kConflict, "this maintenance has ended");
    update_to_cancelled(transaction, maintenance->id);
    audit(transaction, caller.actor, "maintenance.cancel", id, caller.request_id,
          {{"center_id", maintenance->center_id}});
    notify(transaction, "catalog", "");
    return select_maintenance(transaction, id).value();
}

} // namespace

asio::awaitable<Result<MaintenanceService::Planned>> MaintenanceService::plan(Caller caller, Wanted wanted)
{
    auto work = [&](pqxx::work& transaction) { return plan_in(transaction, caller, wanted); };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<Page<MaintenanceWindow>>> MaintenanceService::list(MaintenanceFilter filter, std::int64_t size,
                                                                          std::string after)
{
    auto work = [&](pqxx::work& transaction) -> Result<Page<MaintenanceWindow>> {
        return select_maintenance_windows(transaction, filter, size, after);
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<MaintenanceWindow>> MaintenanceService::get(std::string id)
{
    auto work = [&](pqxx::work& transaction) -> Result<MaintenanceWindow> {
        std::optional<MaintenanceWindow> maintenance = select_maintenance(transaction, id);
        if (!maintenance) return Error(Errc::kNotFound, "there is no such maintenance window");
        return std::move(*maintenance);
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<MaintenanceWindow>> MaintenanceService::cancel(Caller caller, std::string id)
{
    auto work = [&](pqxx::work& transaction) { return cancel_in(transaction, caller, id); };
    co_return co_await database_->run(std::move(work));
}

} // namespace fathom::server
