#pragma once

#include "server/api/caller.hpp"
#include "server/metering/metering_store.hpp"
#include "server/operators/operators_service.hpp"
#include "server/store/database.hpp"

#include <optional>
#include <string>

namespace fathom::server {

/// The policies that come with the program; the first one is active in a new network.
std::vector<MetricPolicy> shipped_policies();

/// A policy as it would be added now: with the next version of its id, its parts looked up. Blocks.
/// @error kInvalid  with every fault that the library and the other policies know of, below `document`.
Result<MetricPolicy> check_new_policy(pqxx::transaction_base& transaction, MetricPolicy policy,
                                      const OperatorLibrary& library);

/// Metric policies (M16). Thread-safe. The references must outlive it.
class MeteringService {
  public:
    MeteringService(Database& database, const OperatorsService& operators)
        : database_(&database), operators_(&operators)
    {
    }

    /// Adds the shipped policies that are missing, and a new version of one whose content changed; the
    /// active policy moves on with it only while it is the shipped one. Blocks; call at start.
    Result<void> seed(const std::vector<MetricPolicy>& policies);

    asio::awaitable<Result<Page<PolicyRecord>>> list_policies(std::int64_t size, std::string after);
    /// `version` 0: the newest. @error kNotFound
    asio::awaitable<Result<PolicyRecord>> get_policy(std::string id, std::int64_t version);
    /// Adds it as the next version of its id, whatever version it names; not active.
    /// @error kInvalid  as check_new_policy() says.
    asio::awaitable<Result<PolicyRecord>> add_policy(Caller caller, MetricPolicy policy);
    /// `version` 0: the newest. @error kNotFound
    asio::awaitable<Result<PolicyRecord>> activate(Caller caller, std::string id, std::int64_t version);

  private:
    Database* database_;
    const OperatorsService* operators_;
};

} // namespace fathom::server
