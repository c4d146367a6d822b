#pragma once

#include "core/base/clock.hpp"
#include "core/base/json_reader.hpp"
#include "server/store/page.hpp"
#include "server/store/transaction.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// Rows of projects' settings. All functions take the caller's transaction, block, and let pqxx's exceptions
/// through to Database::run.
namespace fathom::server {

struct ProjectRecord {
    std::string name;
    bool profile_jobs{false};         ///< every job of it is profiled, whether it asks for that or not (M11)
    double share{1};                  ///< weight in fair sharing
    std::int64_t max_units{};         ///< that its jobs hold at once; 0: no limit
    double max_score_hours{};         ///< in a calendar month; 0: no limit
    std::int64_t max_cost_micros{};   ///< in a calendar month; 0: no limit
    std::vector<std::string> centers; ///< names of those that its jobs may run at; empty: all
    std::int64_t version{1};
    Timestamp changed_at{};
    std::string changed_by;
};

/// What is to change of a project's settings; what is empty stays as it is.
struct ProjectChange {
    std::optional<bool> profile_jobs;
    std::optional<double> share;
    std::optional<std::int64_t> max_units;
    std::optional<double> max_score_hours;
    std::optional<std::int64_t> max_cost_micros;
    std::optional<std::vector<std::string>> centers;

    /// True when it changes what the project may take of the network, not only how its jobs are watched.
    bool is_about_the_network() const { return share || max_units || max_score_hours || max_cost_micros || centers; }
};

std::optional<ProjectRecord> select_project(pqxx::work& transaction, const std::string& name);
/// As select_project, locked until the transaction ends.
std::optional<ProjectRecord> lock_project(pqxx::work& transaction, const std::string& name);
/// Adds a project's settings or replaces them; `version` and `changed_at` are the database's.
ProjectRecord upsert_project(pqxx::work& transaction, const ProjectRecord& project);
/// By name; `after` is a name.
Page<ProjectRecord> select_projects(pqxx::work& transaction, std::int64_t size, const std::string& after);
/// Of all centers that are not revoked, in the order of their bytes.
std::vector<std::string> select_center_names(pqxx::work& transaction);

Json to_json(const ProjectRecord& project);

} // namespace fathom::server
