#pragma once

#include "server/routing/batch/routing_store.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

/// Rows of unit_load. All functions take the caller's transaction, block, and let pqxx's exceptions through.
namespace fathom::server {

/// How busy the units of a type have been.
struct UnitLoadRow {
    double busy_share{1};             ///< at noted_at (BusyShare)
    std::optional<double> used_share; ///< in use since; none: it takes no work
    Timestamp noted_at{};
    std::optional<double> shadow_price; ///< none: no job could go there
    bool operator==(const UnitLoadRow&) const = default;
};
using UnitLoadRows = std::map<std::string, UnitLoadRow>; ///< by unit type

/// The last time that somebody brought the rows up to date.
struct UnitLoadLook {
    std::optional<Timestamp> looked_at; ///< none: nobody has yet
    std::string newest_job;             ///< that the shadow prices know; empty: there are none yet
    bool operator==(const UnitLoadLook&) const = default;
};

UnitLoadRows select_unit_loads(pqxx::work& transaction);
UnitLoadLook select_unit_load_look(pqxx::work& transaction);
/// Units that attempts have, by unit type.
std::map<std::string, std::int64_t> count_units_in_use(pqxx::work& transaction);
/// How many jobs came after that one, at most `most`.
std::int64_t count_jobs_after(pqxx::work& transaction, const std::string& job_id, std::int64_t most);
/// Newest first; those that cannot be read are left out.
std::vector<WaitingJob> select_newest_jobs(pqxx::work& transaction, std::int64_t most);

/// Takes the look's row until the transaction ends. False: another one came between `seen` and now, so that what was
/// computed is old; nothing was changed.
bool advance_unit_load_look(pqxx::work& transaction, const UnitLoadLook& seen, const UnitLoadLook& next);
/// Adds or replaces rows of unit types that are still there.
void upsert_unit_loads(pqxx::work& transaction, const UnitLoadRows& rows);

} // namespace fathom::server
