#pragma once

#include "core/model/attempt.hpp"
#include "server/store/transaction.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// What centers are to be told of their attempts. All functions take the caller's transaction, block, and let pqxx's
/// exceptions through to Database::run.
namespace fathom::server {

struct CatalogSnapshot;

/// How many orders are read at once.
struct OrderLimit {
    std::vector<std::string> on_their_way; ///< ids of attempts that are left out
    std::int64_t bytes{};                  ///< of specifications; where it is above 0 one order is always taken
};
struct UnreadableOrder {
    AttemptId attempt_id;
    Error error; ///< kInfeasible: it can be read, but its center cannot do what it says
    AttemptCause cause{AttemptCause::kNone};
};
struct ClaimedOrders {
    std::vector<AttemptOrder> orders;        ///< oldest first
    std::vector<UnreadableOrder> unreadable; ///< their attempts end: they cannot be started
    bool has_more{false};                    ///< beyond the limit
};
/// Placed attempts of a center whose jobs are wanted; marks them as sent. A probe is left out while another one is at
/// its host (center.host_id), whichever center that is of, or an older one waits for the host.
/// @param catalog  by which a job that may share a device is classed (gpu_class_of()).
ClaimedOrders claim_orders(pqxx::work& transaction, const CenterId& center, const OrderLimit& limit,
                           const CatalogSnapshot& catalog);
/// The center whose probe is next at the host where an attempt has ended; empty: none waits.
std::optional<CenterId> select_center_of_next_probe(pqxx::work& transaction, const AttemptId& ended);
/// A live attempt that its center shall end.
struct UnwantedAttempt {
    AttemptId id;
    bool is_cancelled{}; ///< its job is; else it waits at the center for longer than was expected, and shall come back
};
/// Of a center.
std::vector<UnwantedAttempt> select_unwanted_attempts(pqxx::work& transaction, const CenterId& center);
/// Centers with a session at this replica that are to be told of an attempt: to start, cancel or give it back.
std::vector<CenterId> select_centers_with_orders(pqxx::work& transaction, const std::string& replica);
/// Centers where attempts wait so long for a unit that they are called back.
std::vector<CenterId> select_centers_to_recall_from(pqxx::work& transaction);

} // namespace fathom::server
