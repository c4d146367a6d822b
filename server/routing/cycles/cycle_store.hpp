#pragma once

#include "core/base/clock.hpp"
#include "core/base/id.hpp"
#include "server/store/time_range.hpp"
#include "server/store/transaction.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// Rows of schedule_cycle and schedule_part. All functions block; pqxx's exceptions pass through.
namespace fathom::server {

struct CycleKind {
    static constexpr std::string_view kPrefix = "cyc";
};
using CycleId = Id<CycleKind>; ///< one call of the scheduler on a batch of waiting jobs

/// A cycle as it is kept: documents of core/schedule, compressed (deflated.hpp).
struct StoredCycle {
    std::string id;
    Timestamp decided_at{};
    std::string decided_by; ///< replica
    std::int64_t job_count{};
    std::int64_t start_count{};
    std::optional<double> decision_s; ///< empty: kept by an earlier version
    std::string currency;             ///< of the prices; may be empty
    std::string catalog;              ///< hash of the part that lists the parts of its catalog
    std::string input;
    std::string plan;
    std::int64_t bytes{}; ///< of both
};
void insert_cycle(pqxx::work& transaction, const StoredCycle& cycle);
std::optional<StoredCycle> select_cycle(pqxx::work& transaction, const CycleId& id);
/// Without what it contains.
std::optional<StoredCycle> select_cycle_head(pqxx::work& transaction, const CycleId& id);

/// Those that were decided within the times, the newest first, without what they contain, older than the cycle `after`
/// (empty: all).
std::vector<StoredCycle> select_cycles(pqxx::work& transaction, const TimeRange& within, const std::string& after,
                                       std::int64_t limit);

/// Names of unit types as they are now, with their centers'.
struct PlaceName {
    std::string center;
    std::string unit_type;
};
std::map<std::string, PlaceName> select_place_names(pqxx::work& transaction,
                                                    const std::vector<std::string>& unit_types);

/// Notes that these parts are in use, so that they are not removed. @return those that are not there
std::vector<std::string> touch_parts(pqxx::work& transaction, const std::vector<std::string>& hashes);

struct StoredPart {
    std::string hash;
    std::string body; ///< compressed
};
void insert_parts(pqxx::work& transaction, const std::vector<StoredPart>& parts);
/// In the order of the hashes; empty where one is missing.
std::vector<std::string> select_parts(pqxx::work& transaction, const std::vector<std::string>& hashes);

/// What is kept of cycles.
struct CycleLimits {
    std::int64_t most_bytes{};        ///< of all, with their catalogs
    std::optional<Timestamp> oldest;  ///< what was decided before goes; empty: nothing goes for its age
    Timestamp oldest_idle{};          ///< the same of cycles in which nothing started
    std::int64_t most_removed{10000}; ///< at once
};
/// Removes the oldest beyond the limits, and the parts that nothing refers to any more. @return how many cycles
std::int64_t remove_cycles(pqxx::work& transaction, const CycleLimits& limits);

} // namespace fathom::server
