#pragma once

#include "core/base/id.hpp"
#include "core/decide/probing/size_beyond_caches.hpp"

#include <optional>
#include <string>
#include <vector>

namespace pqxx {
class transaction_base;
}

namespace fathom::server {

/// A unit type that a center offers now, for other rooms to choose from.
struct UnitTypeOffer {
    UnitTypeId id;
    std::string name;
    CenterId center_id;
    std::string center;
    std::int64_t unit_count{};
    std::int64_t cores_per_unit{};
    std::int64_t units_in_use{};        ///< by attempts that have not ended
    std::vector<std::string> operators; ///< sorted ids, uploaded ones included where the center accepts them
    /// Empty when the center takes new work; else why not, for people.
    std::string closed_reason;
    /// Empty when copies of a probe can run side by side on its units; else why not, for people.
    std::string copies_obstacle{};
    /// By which sizes are chosen. Caches by the larger of what its center tells and what its newest probe saw; of units
    /// that are not only processors they are not known.
    UnitMemory memory{};

    bool runs(const std::vector<std::string>& operator_ids) const;
};

/// All active unit types, ordered by center, then name. Blocks; throws pqxx's exceptions.
/// @param center  only this one's; empty: of all.
std::vector<UnitTypeOffer> unit_type_offers(pqxx::transaction_base& transaction, const CenterId& center = {});

/// Finds one by id or "center/unit_type"; nullptr when there is none.
const UnitTypeOffer* find_offer(const std::vector<UnitTypeOffer>& offers, const std::string& key);

} // namespace fathom::server
