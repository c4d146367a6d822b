#pragma once

#include "core/base/clock.hpp"
#include "core/base/id.hpp"
#include "core/model/resources.hpp"

#include <optional>
#include <string>
#include <vector>

namespace pqxx {
class transaction_base;
}

/// Rows of what centers are to offer (M9). All functions take the caller's transaction, block, and let pqxx's
/// exceptions through to Database::run.
namespace fathom::server {

/// One change of what a center offers.
struct CenterChangeRecord {
    Timestamp changed_at{};
    std::string change; ///< for people
};

/// What a center is to offer, and what has become of it.
struct CenterResourcesRecord {
    CenterId center_id;
    std::string center;
    ResourceOrder order; ///< version 0: nobody has said anything
    std::optional<Timestamp> changed_at;
    std::string changed_by;
    bool is_known{};        ///< the agent was connected once
    bool takes_resources{}; ///< the agent understands orders
    bool is_readable{true}; ///< false: the stored order is not, and its unit types are left out
    std::optional<ResourceState> reported;
    std::optional<Timestamp> reported_at;
    std::vector<CenterChangeRecord> changes; ///< newest first, some
};

/// By id or name; empty: there is no such center.
std::optional<CenterResourcesRecord> select_center_resources(pqxx::transaction_base& transaction,
                                                             const std::string& key);
/// The next version, with these unit types.
void put_center_resources(pqxx::transaction_base& transaction, const CenterId& center,
                          const std::vector<UnitCut>& unit_types, const std::string& actor);

/// What a center's agent is to be told: nothing when it does not understand that, or when what is stored cannot be
/// read. Version 0 where nobody has said anything.
std::optional<ResourceOrder> select_resource_order(pqxx::transaction_base& transaction, const CenterId& center);
/// True when that says something else than before.
bool put_resource_state(pqxx::transaction_base& transaction, const CenterId& center, const ResourceState& state);
/// For a new connection, whose agent says anew what there is to say.
void clear_resource_state(pqxx::transaction_base& transaction, const CenterId& center);

/// Notes what has changed; old notes go.
void note_center_change(pqxx::transaction_base& transaction, const CenterId& center, const std::string& change);

/// "file", "waiting" (for the agent's answer), "unsupported" (by an older agent), "applied", "differs" (applied as far
/// as can be), "forbidden", "failed" (at the agent, or what is stored cannot be read). Pure.
std::string resource_progress(const CenterResourcesRecord& record);

Json to_json(const CenterResourcesRecord& record);

} // namespace fathom::server
