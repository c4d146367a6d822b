#pragma once

#include "core/base/id.hpp"
#include "core/model/center.hpp"

#include <string>

namespace pqxx {
class transaction_base;
}

namespace fathom::server {

/// What changed between two catalogs of a center so that old measurements may no longer hold, for people:
/// "new unit type quad; core: cpu_model changed". Empty when nothing did: unit types that went away, memory, which
/// machines report a little differently from start to start, and how many units sub-units make up now (fact
/// `sub_units`) do not count. Pure.
std::string describe_change(const std::vector<UnitTypeReport>& before, const std::vector<UnitTypeReport>& now);

/// Whether the catalog's facts can be stored: PostgreSQL's jsonb cannot hold NUL characters, every replica keeps them
/// in memory, and the agent must hear of it as its own fault. Pure.
/// @error kInvalid  a NUL character; more than 64 KiB of facts of the center or a unit type, or 1 MiB in all.
Result<void> check_facts(const Catalog& catalog);

/// Keeps what a center reports of itself, as store_catalog(). Where measurements may no longer hold, new ones are asked
/// for (M21). True when anything that routing looks at changed. Blocks; pqxx's exceptions pass through.
bool take_catalog(pqxx::transaction_base& transaction, const CenterId& center, const Catalog& catalog);

/// Notes that a center wants to be measured anew, and wakes "probe_request". Reasons of requests that are not served
/// yet are joined. Blocks; pqxx's exceptions pass through.
void note_probe_request(pqxx::transaction_base& transaction, const CenterId& center, const std::string& reason);

} // namespace fathom::server
