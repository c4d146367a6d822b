#include "server/routing/in_use/attempts_in_use.hpp"

#include "server/routing/in_use/device_tenants.hpp"
#include "server/routing/in_use/expected_end.hpp"
#include "server/routing/in_use/gpu_rooms.hpp"
#include "server/routing/in_use/gpu_shares.hpp"
#include "server/rows/gpu_kind.hpp"
#include "server/store/column.hpp"
#include "server/store/statement.hpp"

#include <pqxx/pqxx>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace fathom::server {
namespace {

// All of these but the project, type, submitter and use of memory, which are never others, are noted as changes when
// they change (schema/sql/0056_attempt_changes.sql). What depends on the time is computed from them.
#define FATHOM_ATTEMPT_COLUMNS                                                                                         \
    "a.id, a.state <> 'ended' AS is_in_use, a.unit_type_id, a.unit_count, j.project, "                                 \
    "coalesce(j.steps ->> 'type', j.job_type) AS job_type, j.submitted_by, a.is_exclusive, "                           \
    "CASE WHEN a.units <> '{}' THEN to_jsonb(a.units) END AS units, "                                                  \
    "(extract(epoch FROM a.created_at) * 1000000)::bigint AS created_us, "                                             \
    "(extract(epoch FROM a.started_at) * 1000000)::bigint AS started_us, "                                             \
    "(extract(epoch FROM a.expected_end_at) * 1000000)::bigint AS expected_end_us, "                                   \
    "(extract(epoch FROM a.queued_until) * 1000000)::bigint AS queued_until_us, "                                      \
    "(extract(epoch FROM q.expected_start) * 1000000)::bigint AS expected_start_us, p.pressure, p.sensitivity"

// Of transactions that the snapshot $1 has not seen. A number of the future is one of the server from which this
// database was restored, and so no news.
#define FATHOM_IS_NEWS(changed_in)                                                                                     \
    changed_in " >= pg_snapshot_xmin($1::pg_snapshot) AND " changed_in                                                 \
               " < pg_snapshot_xmax(pg_current_snapshot()) AND NOT pg_visible_in_snapshot(" changed_in                 \
               ", $1::pg_snapshot)"

#define FATHOM_READING_STATE                                                                                           \
    "pg_current_snapshot()::text AS snapshot, pg_current_xact_id_if_assigned() IS NOT NULL AS has_written, "           \
    "(extract(epoch FROM now()) * 1000000)::bigint AS now_us, "                                                        \
    "s.id::text || ' ' || extract(epoch FROM pg_postmaster_start_time())::text AS since"

// One statement, so that the snapshot is that of the rows. At least one row, whose id may be null. Rows that are gone
// say nothing: all must be read where the snapshot may not have seen how one of them last changed. Of those that it has
// seen end, as of all that retention deletes, nothing is kept.
constexpr Statement kSelectChanges{"routing_select_attempt_changes", R"sql(
    WITH changed AS (
        SELECT id FROM attempt WHERE )sql" FATHOM_IS_NEWS("changed_in") R"sql(
        UNION
        SELECT attempt_id FROM attempt_queue WHERE )sql" FATHOM_IS_NEWS("changed_in") R"sql()
    SELECT reading.*, attempts.*
    FROM (SELECT )sql" FATHOM_READING_STATE R"sql(,
                 coalesce()sql" FATHOM_IS_NEWS("s.deleted_in") R"sql(
                          AND s.deleted_change >= pg_snapshot_xmin($1::pg_snapshot), true) AS must_read_all
          FROM (VALUES (1)) one LEFT JOIN attempt_changes_since s ON true) reading
    LEFT JOIN (SELECT )sql" FATHOM_ATTEMPT_COLUMNS R"sql(
               FROM changed c JOIN attempt a ON a.id = c.id JOIN job j ON j.id = a.job_id
               )sql" FATHOM_JOIN_ATTEMPT_QUEUE R"sql(
                    LEFT JOIN prediction p ON p.attempt_id = a.id) attempts ON true)sql"};

constexpr Statement kSelectState{"routing_select_reading_state", R"sql(
    SELECT )sql" FATHOM_READING_STATE R"sql( FROM (VALUES (1)) one LEFT JOIN attempt_changes_since s ON true)sql"};
constexpr Statement kBeginChanges{"routing_begin_attempt_changes",
                                  "INSERT INTO attempt_changes_since DEFAULT VALUES ON CONFLICT DO NOTHING"};
constexpr Statement kSelectAll{"routing_select_attempts_in_use", R"sql(
    SELECT )sql" FATHOM_ATTEMPT_COLUMNS R"sql(
    FROM attempt a JOIN job j ON j.id = a.job_id
    )sql" FATHOM_JOIN_ATTEMPT_QUEUE R"sql(
         LEFT JOIN prediction p ON p.attempt_id = a.id
    WHERE a.state <> 'ended')sql"};

double seconds_of(std::int64_t microseconds)
{
    return static_cast<double>(microseconds) / 1e6;
}

} // namespace

void AttemptsInUse::read(pqxx::work& transaction)
{
    rows_read_ = 0;
    if (snapshot_.empty() || !read_changes(transaction)) read_all(transaction);
}

bool AttemptsInUse::read_changes(pqxx::work& transaction)
{
    const pqxx::result rows = exec(transaction, kSelectChanges, snapshot_);
    const pqxx::row state = rows.front();
    if (state["must_read_all"].as<bool>() || state["has_written"].as<bool>() ||
        state["since"].as<std::string>("") != since_)
        return false;
    for (const pqxx::row& row : rows) {
        if (!row["id"].is_null()) put(row);
    }
    note_state(state);
    return true;
}

void AttemptsInUse::read_all(pqxx::work& transaction)
{
    snapshot_.clear();
    unit_types_.clear();
    unit_type_of_.clear();
    // Before the rows: what changes between the two statements is read twice.
    const pqxx::result states = exec(transaction, kSelectState);
    const pqxx::row state = states.front();
    if (state["since"].is_null()) exec(transaction, kBeginChanges);
    for (const pqxx::row& row : exec(transaction, kSelectAll))
        put(row);
    note_state(state);
}

void AttemptsInUse::note_state(const pqxx::row& state)
{
    now_us_ = state["now_us"].as<std::int64_t>();
    since_ = state["since"].as<std::string>("");
    // To a snapshot what its own transaction wrote is seen, also what that writes later, and if it fails.
    const bool is_of_others = !since_.empty() && !state["has_written"].as<bool>();
    snapshot_ = is_of_others ? state["snapshot"].as<std::string>() : std::string();
}

void AttemptsInUse::put(const pqxx::row& row)
{
    ++rows_read_;
    const auto id = row["id"].as<std::string>();
    forget(id);
    if (!row["is_in_use"].as<bool>()) return;
    const auto unit_type = row["unit_type_id"].as<std::string>();
    unit_types_[unit_type].insert_or_assign(id, to_attempt(row));
    unit_type_of_.insert_or_assign(id, unit_type);
}

void AttemptsInUse::forget(const std::string& id)
{
    const auto known = unit_type_of_.find(id);
    if (known == unit_type_of_.end()) return;
    const auto unit_type = unit_types_.find(known->second);
    unit_type->second.erase(id);
    if (unit_type->second.empty()) unit_types_.erase(unit_type);
    unit_type_of_.erase(known);
}

AttemptsInUse::Attempt AttemptsInUse::to_attempt(const pqxx::row& row)
{
    Attempt attempt;
    attempt.project = row["project"].as<std::string>();
    if (const auto job_type = row["job_type"].as<std::string>(); !job_type.empty())
        attempt.gpu_kind = gpu_kind_of(job_type, {row["submitted_by"].c_str(), attempt.project}, KernelClass::kUnknown);
    attempt.unit_count = row["unit_count"].as<std::int64_t>();
    attempt.created_us = row["created_us"].as<std::int64_t>();
    attempt.started_us = optional_of<std::int64_t>(row["started_us"]);
    attempt.expected_end_us = optional_of<std::int64_t>(row["expected_end_us"]);
    attempt.queued_until_us = optional_of<std::int64_t>(row["queued_until_us"]);
    attempt.expected_start_us = optional_of<std::int64_t>(row["expected_start_us"]);
    if (!row["units"].is_null()) attempt.units = to_json_value(row["units"]).get<std::vector<std::int64_t>>();
    attempt.is_exclusive = row["is_exclusive"].as<bool>();
    if (const auto pressure = optional_of<double>(row["pressure"]))
        attempt.memory = {*pressure, row["sensitivity"].as<double>(0)};
    return attempt;
}

// One that is late is believed to run as long again, at least a second; a short one for the time it needs. The expected
// end is that of FATHOM_EXPECTED_END.
AttemptsInUse::HeldTime AttemptsInUse::held_time(const Attempt& attempt) const
{
    constexpr std::int64_t kShort_us = 1000000;
    const std::int64_t begin_us = attempt.queued_until_us.value_or(attempt.started_us.value_or(attempt.created_us));
    std::int64_t end_us = attempt.expected_end_us.value_or(attempt.created_us);
    if (attempt.expected_start_us && attempt.expected_end_us)
        end_us = std::max(*attempt.expected_start_us, now_us_) + (*attempt.expected_end_us - attempt.created_us);
    HeldTime held;
    held.is_short = attempt.expected_end_us && *attempt.expected_end_us - begin_us < kShort_us;
    held.from_s = attempt.queued_until_us ? std::max(0.0, seconds_of(*attempt.queued_until_us - now_us_)) : 0;
    const double left_s = seconds_of(std::abs(end_us - attempt.queued_until_us.value_or(now_us_)));
    held.release_s = held.from_s + std::max(held.is_short ? 0.01 : 1.0, left_s);
    return held;
}

UseOfUnits AttemptsInUse::use() const
{
    UseOfUnits sum;
    for (const auto& [unit_type, attempts] : unit_types_) {
        std::int64_t taken = 0;
        std::int64_t queued = 0;
        bool has_short = false;
        bool has_long = false;
        for (const auto& [id, attempt] : attempts) {
            const HeldTime held = held_time(attempt);
            if (held.from_s <= 0) taken += attempt.unit_count;
            if (attempt.queued_until_us)
                ++queued;
            else if (held.is_short)
                has_short = true;
            else if (held.release_s <= UseOfUnits::kSoon_s)
                has_long = true;
        }
        if (taken > 0) sum.taken.emplace(unit_type, taken);
        if (queued > 0) sum.queued.emplace(unit_type, queued);
        if (has_short) sum.with_short.insert(unit_type);
        if (has_long) sum.with_long.insert(unit_type);
    }
    return sum;
}

std::vector<Reservation> AttemptsInUse::reservations(std::span<const UnitTypeView> unit_types) const
{
    const std::unordered_map<std::string, const UnitTypeView*> shared = with_shared_devices(unit_types);
    std::vector<Reservation> all;
    all.reserve(unit_type_of_.size());
    for (const auto& [unit_type, attempts] : unit_types_) {
        const auto view = shared.find(unit_type);
        DeviceTenants tenants;
        for (const auto& [id, attempt] : attempts) {
            const HeldTime held = held_time(attempt);
            all.push_back({.unit_type_id = {unit_type},
                           .unit_count = attempt.unit_count,
                           .release_s = held.release_s,
                           .from_s = held.from_s,
                           .project = attempt.project,
                           .memory = attempt.memory});
            if (view == shared.end() || attempt.queued_until_us) continue;
            tenants.add({attempt.units, attempt.unit_count, attempt.is_exclusive, held.release_s}, all.size() - 1);
        }
        if (view != shared.end()) tenants.set_takes(all, *view->second);
    }
    return all;
}

GpusInUse AttemptsInUse::gpus(std::span<const UnitTypeView> unit_types) const
{
    GpusInUse all;
    for (const auto& [id, view] : with_shared_devices(unit_types)) {
        const auto attempts = unit_types_.find(id);
        if (attempts == unit_types_.end()) continue;
        std::vector<TenantedGpu> own = gpus_of(view->unit_count, view->units_per_device);
        bool has_tenant = false;
        for (const auto& [attempt_id, attempt] : attempts->second) {
            if (attempt.queued_until_us || attempt.units.empty()) continue;
            add_tenant(own, {attempt.gpu_kind, held_time(attempt).release_s}, attempt.units, view->units_per_device);
            has_tenant = true;
        }
        if (has_tenant) all.emplace(id, std::move(own));
    }
    return all;
}

ComingTenants AttemptsInUse::coming_tenants(std::span<const UnitTypeView> unit_types) const
{
    ComingTenants all;
    for (const auto& [id, view] : with_shared_devices(unit_types)) {
        const auto attempts = unit_types_.find(id);
        if (attempts == unit_types_.end()) continue;
        for (const auto& [attempt_id, attempt] : attempts->second) { // whose ids are in order of time
            if (attempt.queued_until_us || attempt.started_us || !attempt.units.empty()) continue;
            all[id].push_back(
                {{attempt.gpu_kind, held_time(attempt).release_s}, attempt.unit_count, attempt.is_exclusive});
        }
    }
    return all;
}

UnitsInUse select_units_in_use(pqxx::work& transaction, const CatalogSnapshot& catalog)
{
    const std::span<const UnitTypeView> unit_types = catalog.unit_types;
    AttemptsInUse attempts;
    attempts.read(transaction);
    UnitsInUse in_use{
        attempts.reservations(unit_types), {}, attempts.gpus(unit_types), attempts.coming_tenants(unit_types)};
    if (has_divided_devices(unit_types)) in_use.gpu_rooms = select_gpu_rooms(transaction);
    if (const auto& needs = catalog.gpu_needs.by_kind) expect_learned_memory(transaction, *needs, in_use.gpu_rooms);
    return in_use;
}

} // namespace fathom::server
