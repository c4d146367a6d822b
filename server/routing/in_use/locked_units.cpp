#include "server/routing/in_use/locked_units.hpp"

#include "core/schedule/schedule.hpp"
#include "server/catalog/catalog_calendars.hpp"
#include "server/catalog/device_facts.hpp"
#include "server/routing/in_use/device_tenants.hpp"
#include "server/routing/in_use/expected_end.hpp"
#include "server/store/column.hpp"
#include "server/store/sql_array.hpp"
#include "server/store/statement.hpp"

#include <pqxx/pqxx>

#include <algorithm>
#include <optional>
#include <set>

namespace fathom::server {
namespace {

// NO KEY: attempts and measurements that refer to these rows need not wait for us. In order of id, else two
// replicas that lock the same types would deadlock.
constexpr Statement kLockUnitTypes{"routing_lock_unit_types", R"sql(
    SELECT u.id, u.unit_count, u.facts -> 'device' AS device
    FROM unit_type u JOIN center c ON c.id = u.center_id
    WHERE u.id = ANY ($1::text[]) AND u.active AND c.state = 'online' AND NOT c.drained AND c.revoked_at IS NULL
      AND (c.quarantined_at IS NULL OR u.id <> ALL ($2::text[]))
    ORDER BY u.id FOR NO KEY UPDATE OF u)sql"};

// A statement of its own after the lock, so that it sees what the last holder of the lock committed.
constexpr Statement kCountUnitsInUse{"routing_count_units_in_use", R"sql(
    SELECT unit_type_id, coalesce(sum(unit_count) FILTER (WHERE queued_until IS NULL), 0)::bigint AS in_use,
           count(queued_until) AS queued
    FROM attempt WHERE state <> 'ended' AND unit_type_id = ANY ($1::text[])
    GROUP BY unit_type_id)sql"};

// Whose devices others have no part of. What its center has not told of yet may be anywhere.
constexpr const char* kSelectTenants = R"sql(
    SELECT a.unit_type_id, a.unit_count, to_jsonb(a.units) AS units, a.is_exclusive
    FROM attempt a
    WHERE a.state <> 'ended' AND a.queued_until IS NULL AND a.unit_type_id = ANY ($1::text[]))sql";

// Where something is planned it matters when units come back, and whose they are. Expected ends as the router sees
// them: AttemptsInUse; but from the moment that everything else here counts from, else a reservation that
// begins just before an attempt's end seems to begin after it.
constexpr const char* kSelectUnitsInUse = R"sql(
    SELECT a.unit_type_id, j.project, a.unit_count,
           greatest(1, abs(extract(epoch FROM )sql" FATHOM_EXPECTED_END("$2::timestamptz") R"sql(
                                          - $2::timestamptz)))::float8 AS release_s
    FROM attempt a JOIN job j ON j.id = a.job_id
    )sql" FATHOM_JOIN_ATTEMPT_QUEUE R"sql(
    WHERE a.state <> 'ended' AND a.queued_until IS NULL AND a.unit_type_id = ANY ($1::text[]))sql";

/// Lays what is planned into the unit types; answers which of them have a calendar at all.
std::set<std::string> lay_calendar(pqxx::work& transaction, LockedUnits::UnitTypes& unit_types,
                                   const std::vector<std::string>& ids,
                                   const std::unordered_map<std::string, std::int64_t>& unit_counts, Timestamp now)
{
    std::set<std::string> planned;
    const UnitCalendar calendar = select_calendar_of(transaction, ids);
    for (const KnownHold& hold : calendar.holds) {
        const auto found = unit_types.find(hold.unit_type_id.value);
        if (found == unit_types.end()) continue;
        found->second.holds.push_back(hold_from(hold, now));
        planned.insert(found->first);
    }
    for (const KnownClosure& one : calendar.closures) {
        const auto found = unit_types.find(one.unit_type_id.value);
        if (found == unit_types.end()) continue;
        const Closure closure = closure_from(one, now);
        found->second.availability.take(closure.from_s, closure.to_s, unit_counts.at(found->first));
        planned.insert(found->first);
    }
    return planned;
}

void lay_attempts(pqxx::work& transaction, LockedUnits::UnitTypes& unit_types, const std::set<std::string>& planned,
                  Timestamp now)
{
    std::vector<std::string> with_calendar;
    std::vector<std::string> others;
    for (auto& [id, unit_type] : unit_types) {
        unit_type.has_calendar = planned.contains(id);
        (unit_type.has_calendar ? with_calendar : others).push_back(id);
    }
    for (const pqxx::row& row : exec(transaction, kCountUnitsInUse, sql_array(others))) {
        LockedUnits::UnitType& unit_type = unit_types.at(row["unit_type_id"].as<std::string>());
        unit_type.availability.take(0, Availability::kForEver, row["in_use"].as<std::int64_t>());
        unit_type.queued = row["queued"].as<std::int64_t>();
    }
    if (with_calendar.empty()) return;
    for (const pqxx::row& row :
         transaction.exec_params(kSelectUnitsInUse, sql_array(with_calendar), format_rfc3339(now))) {
        LockedUnits::UnitType& unit_type = unit_types.at(row["unit_type_id"].as<std::string>());
        const auto units = row["unit_count"].as<std::int64_t>();
        const auto release_s = row["release_s"].as<double>();
        unit_type.availability.take(0, release_s, units);
        use_holds(unit_type.holds, {row["project"].as<std::string>(), 0, release_s, units});
    }
}

void lay_tenants(pqxx::work& transaction, LockedUnits::UnitTypes& unit_types)
{
    std::vector<std::string> shared;
    for (const auto& [id, unit_type] : unit_types) {
        if (unit_type.units_per_device > 1) shared.push_back(id);
    }
    if (shared.empty()) return;
    std::unordered_map<std::string, DeviceTenants> tenants;
    for (const pqxx::row& row : transaction.exec_params(kSelectTenants, sql_array(shared)))
        tenants[row["unit_type_id"].as<std::string>()].add(row);
    for (const std::string& id : shared) {
        LockedUnits::UnitType& unit_type = unit_types.at(id);
        unit_type.whole_units = tenants[id].whole_units(unit_type.unit_count, unit_type.units_per_device);
    }
}

/// What is left on whole devices when so many units are taken; nullopt: the job wants whole ones, and there are too
/// few.
std::optional<std::int64_t> whole_units_after(const LockedUnits::UnitType& unit_type, std::int64_t units,
                                              UnitSharing sharing)
{
    const std::int64_t whole = unit_type.whole_units;
    if (unit_type.units_per_device <= 1) return whole;
    if (sharing == UnitSharing::kExclusive) return whole >= units ? std::optional(whole - units) : std::nullopt;
    const std::int64_t room = std::max<std::int64_t>(unit_type.availability.free_now() - whole, 0);
    const std::int64_t beyond = std::max<std::int64_t>(units - room, 0);
    return std::max<std::int64_t>(whole - units_of_whole_devices(beyond, unit_type.units_per_device), 0);
}

} // namespace

bool LockedUnits::take(const std::string& unit_type_id, const std::string& project, std::int64_t units, double held_s,
                       UnitSharing sharing)
{
    const auto found = unit_types_.find(unit_type_id);
    if (found == unit_types_.end()) return false;
    UnitType& unit_type = found->second;
    const Availability& all = unit_type.availability;
    const bool is_free = unit_type.holds.empty()
                             ? all.earliest_start(units, held_s) <= 0
                             : open_to(project, all, unit_type.holds).earliest_start(units, held_s) <= 0;
    const std::optional<std::int64_t> whole_units = whole_units_after(unit_type, units, sharing);
    if (!is_free || !whole_units) return false;
    unit_type.whole_units = *whole_units;
    unit_type.availability.take(0, held_s, units);
    use_holds(unit_type.holds, {project, 0, held_s, units});
    return true;
}

void LockedUnits::know_gpu_rooms(const std::vector<KnownGpuRoom>& rooms)
{
    for (const KnownGpuRoom& one : rooms) {
        const auto found = unit_types_.find(one.unit_type_id.value);
        if (found != unit_types_.end()) found->second.gpu_rooms.push_back(one.room);
    }
}

bool LockedUnits::admit(const std::string& unit_type_id, const GpuMemoryRequest& need)
{
    const auto found = unit_types_.find(unit_type_id);
    if (need.all_bytes() == 0 || found == unit_types_.end() || found->second.gpu_rooms.empty()) return true;
    std::vector<GpuRoom>& rooms = found->second.gpu_rooms;
    if (std::none_of(rooms.begin(), rooms.end(), [&](const GpuRoom& one) { return one.missing_bytes(need) <= 0; }))
        return false;
    for (GpuRoom& room : rooms)
        room.admit(need);
    return true;
}

bool LockedUnits::queue(const std::string& unit_type_id)
{
    const auto found = unit_types_.find(unit_type_id);
    if (found == unit_types_.end()) return false;
    UnitType& unit_type = found->second;
    if (unit_type.has_calendar || unit_type.queued >= kMaxQueuedPerUnit * unit_type.unit_count) return false;
    ++unit_type.queued;
    return true;
}

LockedUnits lock_units(pqxx::work& transaction, const std::vector<std::string>& unit_type_ids,
                       const std::vector<std::string>& for_jobs, const Clock& clock)
{
    LockedUnits::UnitTypes unit_types;
    std::unordered_map<std::string, std::int64_t> unit_counts;
    for (const pqxx::row& row : exec(transaction, kLockUnitTypes, sql_array(unit_type_ids), sql_array(for_jobs))) {
        const auto id = row["id"].as<std::string>();
        unit_counts[id] = row["unit_count"].as<std::int64_t>();
        unit_types[id].availability = Availability(unit_counts[id]);
        unit_types[id].unit_count = unit_counts[id];
        unit_types[id].units_per_device = units_per_device_of(to_json_value(row["device"]));
    }
    const Timestamp moment = clock.now();
    const std::set<std::string> planned = lay_calendar(transaction, unit_types, unit_type_ids, unit_counts, moment);
    lay_attempts(transaction, unit_types, planned, moment);
    lay_tenants(transaction, unit_types);
    return {std::move(unit_types), moment};
}

} // namespace fathom::server
