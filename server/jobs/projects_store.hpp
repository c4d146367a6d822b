#pragma once

#include "core/base/clock.hpp"
#include "core/base/json_reader.hpp"
#include "server/store/page.hpp"
#include "server/store/transaction.hpp"

#include <optional>
#include <string>

/// Rows of projects' settings. All functions take the caller's transaction, block, and let pqxx's exceptions
/// through to Database::run.
namespace fathom::server {

struct ProjectRecord {
    std::string name;
    bool profile_jobs{false}; ///< every job of it is profiled, whether it asks for that or not (M11)
    std::int64_t version{1};
    Timestamp changed_at{};
    std::string changed_by;
};

std::optional<ProjectRecord> select_project(pqxx::work& transaction, const std::string& name);
/// As select_project, locked until the transaction ends.
std::optional<ProjectRecord> lock_project(pqxx::work& transaction, const std::string& name);
/// Adds a project's settings or replaces them; `version` and `changed_at` are the database's.
ProjectRecord upsert_project(pqxx::work& transaction, const ProjectRecord& project);
/// By name; `after` is a name.
Page<ProjectRecord> select_projects(pqxx::work& transaction, std::int64_t size, const std::string& after);

Json to_json(const ProjectRecord& project);

} // namespace fathom::server
