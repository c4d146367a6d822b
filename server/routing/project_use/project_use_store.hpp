#pragma once

#include "core/schedule/project_use.hpp"
#include "server/store/transaction.hpp"

#include <functional>
#include <map>
#include <string>
#include <vector>

/// What projects hold and have used: attempts that run, and sums of those that ended. Probes count for nobody. All
/// functions take the caller's transaction, block, and let pqxx's exceptions through to Database::run.
namespace fathom::server {

/// The score of one unit of a type, by its id (UnitTypeView::score).
using ScoreOf = std::function<double(const std::string& unit_type_id)>;

/// What all projects hold and have used, decayed: of what ended on a day (UTC) that is n days past, 2^(−n/7). Shares
/// are left at 1. In order of name.
std::vector<ProjectUse> select_project_uses(pqxx::work& transaction);

/// What counts against quotas: units that are held, and of this calendar month (UTC) what has ended in it and what
/// holds units now. The latter counts with what was predicted for it, or with more where it has taken more.
QuotaUses select_quota_uses(pqxx::work& transaction, const std::vector<std::string>& projects, const ScoreOf& score_of);

/// Locks the rows of projects until the transaction ends, so that no other replica can start their jobs meanwhile.
void lock_projects(pqxx::work& transaction, const std::vector<std::string>& projects);

/// Adds attempts that have ended to the sums, at most `most` of them, each once. @return how many.
std::int64_t count_ended_attempts(pqxx::work& transaction, const ScoreOf& score_of, std::int64_t most);

/// What a project has used on one unit type in this month.
struct UnitTypeUse {
    std::string center;
    std::string unit_type;
    std::string unit_type_id;
    std::int64_t units{}; ///< held now
    double unit_s{};      ///< of what has ended this month, and what runs
    double score_hours{};
    double cost{};
};
/// By center and unit type.
std::vector<UnitTypeUse> select_month_use(pqxx::work& transaction, const std::string& project, const ScoreOf& score_of);

} // namespace fathom::server
