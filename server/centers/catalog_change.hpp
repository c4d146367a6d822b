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
/// machines report a little differently from start to start, labels, and how many units there are now of sub-units
/// (fact `sub_units`) or on a batch system's nodes (fact `partition`) do not count. Pure.
std::string describe_change(const std::vector<UnitTypeReport>& before, const std::vector<UnitTypeReport>& now);

/// Everything that changed in what a center offers, for people: "gpu: 7 units, were 8; unit type old is gone". Empty
/// when nothing did that a job could notice. Pure.
std::string describe_offer_change(const std::vector<UnitTypeReport>& before, const std::vector<UnitTypeReport>& now);

/// Whether the catalog's facts can be stored: PostgreSQL's jsonb cannot hold NUL characters, every replica keeps them
/// in memory, and the agent must hear of it as its own fault. Pure.
/// @error kInvalid  a NUL character; more than 64 KiB of facts of the center or a unit type, or 1 MiB in all.
Result<void> check_facts(const Catalog& catalog);

/// Keeps what a center reports of itself, as store_catalog(), and notes how that differs from before. Where
/// measurements may no longer hold, new ones are asked for (M21). True when anything that routing looks at changed.
/// Blocks; pqxx's exceptions pass through.
/// @error kInvalid  it names a new unit type, and with it the center would have named more than 1000, ever.
Result<bool> take_catalog(pqxx::transaction_base& transaction, const CenterId& center, const Catalog& catalog);

/// Notes that a center wants to be measured anew, and wakes "probe_request". Reasons of requests that are not served
/// yet are joined. Blocks; pqxx's exceptions pass through.
void note_probe_request(pqxx::transaction_base& transaction, const CenterId& center, const std::string& reason);

} // namespace fathom::server
