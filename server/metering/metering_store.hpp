#pragma once

#include "core/base/clock.hpp"
#include "core/decide/scoring/metric_policy.hpp"
#include "core/decide/scoring/resolve_policy.hpp"
#include "server/store/page.hpp"

#include <optional>
#include <string>

namespace pqxx {
class transaction_base;
}

/// Rows of metric policies. All functions take the caller's transaction, block, and let pqxx's exceptions through to
/// Database::run.
namespace fathom::server {

struct PolicyRecord {
    MetricPolicy policy; ///< with id and version of the row
    bool active{};
    Timestamp created_at{};
    std::string created_by;
};

/// What of a stored policy can always be read.
struct PolicyHead {
    std::string id;
    std::int64_t version{};
    std::string created_by;
};

/// By id, newest version first; `after` is opaque. Those whose document cannot be read are left out.
Page<PolicyRecord> select_policies(pqxx::transaction_base& transaction, std::int64_t size, const std::string& after);
/// `version` 0: the newest. Empty, too, when its document cannot be read.
std::optional<PolicyRecord> select_policy(pqxx::transaction_base& transaction, const std::string& id,
                                          std::int64_t version);
std::optional<PolicyRecord> select_active_policy(pqxx::transaction_base& transaction);
/// The newest version, whether its document can be read or not; empty when there is none.
std::optional<PolicyHead> select_newest_head(pqxx::transaction_base& transaction, const std::string& id);
/// The same of the active policy.
std::optional<PolicyHead> select_active_head(pqxx::transaction_base& transaction);
/// Two who add or activate do it one after the other.
void lock_policies(pqxx::transaction_base& transaction);
/// Adds the policy under its own id and version.
void insert_policy(pqxx::transaction_base& transaction, const MetricPolicy& policy, const std::string& created_by);
/// Makes this version the only active one.
void activate_policy(pqxx::transaction_base& transaction, const std::string& id, std::int64_t version);

/// Finds policies for resolve_policy(); the transaction must outlive it.
PolicyLookup policy_lookup(pqxx::transaction_base& transaction);

/// The active policy for an empty text; else an id, whose newest version is meant, or id@version. Its parts are looked
/// up, so it can score.
/// @error kInvalid  on the field `policy`: there is none, or it cannot be resolved.
Result<PolicyRecord> find_policy(pqxx::transaction_base& transaction, const std::string& text);

Json to_json(const PolicyRecord& record);

} // namespace fathom::server
