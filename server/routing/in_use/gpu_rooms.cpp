#include "server/routing/in_use/gpu_rooms.hpp"

#include "core/base/log.hpp"
#include "core/decide/routing/gpu_room_cost.hpp"
#include "server/rows/gpu_kind.hpp"
#include "server/store/column.hpp"
#include "server/store/sql_array.hpp"
#include "server/store/statement.hpp"

#include <pqxx/pqxx>

#include <algorithm>
#include <limits>

namespace fathom::server {
namespace {

// An agent that does not say which GPUs a unit type is made of may mean any of its center. What was told of units that
// nobody has any more is old: its center may no longer have a memory manager.
constexpr Statement kSelectRooms{"routing_select_gpu_rooms", R"sql(
    SELECT u.id AS unit_type_id, g.report || '{"jobs": []}' AS report,
           EXISTS (SELECT FROM attempt a WHERE a.unit_type_id = u.id AND a.state <> 'ended') AS is_used
    FROM shared_gpu g JOIN unit_type u ON u.center_id = g.center_id
    WHERE u.active AND u.facts -> 'device' ->> 'sharing' = 'time-slice'
      AND coalesce(u.facts -> 'device' -> 'ids' ? g.gpu, true)
      AND ($1::text[] = '{}' OR u.id = ANY ($1::text[]))
    ORDER BY u.id, g.gpu)sql"};

// Of the job j with the attempt a. What reports say is taken apart, so that each is read once: looking into all of a
// center's for each of its jobs took a second with some hundred GPUs.
#define FATHOM_IS_NOT_TOLD                                                                                             \
    "NOT EXISTS (SELECT FROM shared_gpu g "                                                                            \
    "CROSS JOIN LATERAL jsonb_path_query(g.report, 'lax $.jobs[*].job') AS told (job) "                                \
    "WHERE g.center_id = a.center_id AND told.job #>> '{}' = j.id)"

// Programs tell their manager the job that they are of; until they have, their need is only known here.
constexpr Statement kSelectComing{"routing_select_gpu_needs", R"sql(
    SELECT a.unit_type_id, j.spec -> 'units' -> 'gpu_memory' AS need
    FROM attempt a JOIN job j ON j.id = a.job_id
    WHERE a.state <> 'ended' AND a.unit_type_id = ANY ($1::text[]) AND j.spec -> 'units' ? 'gpu_memory'
      AND )sql" FATHOM_IS_NOT_TOLD};

// Probes, and who shares no GPU, are not of those that learned (server/routing/in_use/gpu_shares).
constexpr Statement kSelectComingOfTypes{"routing_select_coming_gpu_jobs", R"sql(
    SELECT a.unit_type_id, coalesce(j.steps ->> 'type', j.job_type) AS job_type, j.submitted_by, j.project
    FROM attempt a JOIN job j ON j.id = a.job_id
    WHERE a.state <> 'ended' AND a.unit_type_id = ANY ($1::text[]) AND NOT a.is_exclusive AND j.label = 'job'
      AND NOT coalesce(j.spec -> 'units' ? 'gpu_memory', false)
      AND )sql" FATHOM_IS_NOT_TOLD " ORDER BY a.unit_type_id, a.id"};

/// As much as a job may ask for: cycles hold no more.
constexpr std::int64_t kMaxLearned_bytes = std::int64_t{1} << 42;

/// What no replica of today writes counts as nothing: the other jobs' needs are known all the same.
GpuMemoryRequest need_of(const Json& json)
{
    constexpr std::int64_t kMaxNumber = std::numeric_limits<std::int64_t>::max();
    std::vector<FieldError> ignored;
    ObjectReader reader(json, "", ignored);
    return {reader.optional_integer("persistent_bytes", 0, kMaxNumber).value_or(0),
            reader.optional_integer("temporary_bytes", 0, kMaxNumber).value_or(0)};
}

} // namespace

std::vector<KnownGpuRoom> select_gpu_rooms(pqxx::work& transaction, const std::vector<std::string>& unit_type_ids)
{
    std::vector<KnownGpuRoom> rooms;
    SqlArray with_rooms;
    for (const pqxx::row& row : exec(transaction, kSelectRooms, sql_array(unit_type_ids))) {
        const auto unit_type = row["unit_type_id"].as<std::string>();
        const Json report = to_json_value(row["report"]);
        std::vector<FieldError> errors;
        const Json one = {{"gpus", Json::array({report})}};
        ObjectReader reader(one, "", errors);
        const GpuMemoryReport read = read_gpu_memory_report(reader, errors);
        if (!errors.empty() || read.gpus.size() != 1) continue; // written by a newer replica
        if (rooms.empty() || rooms.back().unit_type_id.value != unit_type) with_rooms.add(unit_type);
        GpuRoom room = room_of(read.gpus.front());
        if (!row["is_used"].as<bool>()) room.persistent_bytes = room.temporary_bytes = 0;
        rooms.push_back({{unit_type}, room});
    }
    if (rooms.empty()) return rooms;
    for (const pqxx::row& row : exec(transaction, kSelectComing, with_rooms.take())) {
        const GpuMemoryRequest need = need_of(to_json_value(row["need"]));
        for (KnownGpuRoom& one : rooms) {
            if (one.unit_type_id.value == row["unit_type_id"].as<std::string>()) one.room.admit(need);
        }
    }
    return rooms;
}

GpuMemoryRequest learned_need(const GpuNeeds& needs, const std::string& kind)
{
    const auto need = needs.find(kind);
    if (need == needs.end()) return {};
    return {std::min(need->second.persistent_bytes, kMaxLearned_bytes),
            std::min(need->second.temporary_bytes, kMaxLearned_bytes)};
}

void expect_learned_memory(pqxx::work& transaction, const GpuNeeds& needs, std::vector<KnownGpuRoom>& rooms)
{
    if (needs.empty() || rooms.empty()) return;
    std::map<std::string, std::vector<GpuRoom>> expected; // by unit type, in order
    for (const KnownGpuRoom& one : rooms)
        expected[one.unit_type_id.value].push_back(one.room);
    SqlArray unit_types;
    for (const auto& [id, gpus] : expected)
        unit_types.add(id);
    for (const pqxx::row& row : exec(transaction, kSelectComingOfTypes, unit_types.take())) {
        const auto project = row["project"].as<std::string>();
        const std::string kind = gpu_kind_of(row["job_type"].as<std::string>(), {row["submitted_by"].c_str(), project},
                                             KernelClass::kUnknown);
        const GpuMemoryRequest need = learned_need(needs, kind);
        if (need.all_bytes() > 0) expect_in_room(expected.at(row["unit_type_id"].as<std::string>()), need);
    }
    std::map<std::string, std::size_t> next;
    for (KnownGpuRoom& one : rooms) {
        const GpuRoom& room = expected.at(one.unit_type_id.value)[next[one.unit_type_id.value]++];
        if (room != one.room) one.expected = room;
    }
}

} // namespace fathom::server
