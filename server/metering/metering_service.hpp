#pragma once

#include "server/api/caller.hpp"
#include "server/metering/curves_store.hpp"
#include "server/metering/metering_store.hpp"
#include "server/store/database.hpp"

#include <map>
#include <optional>
#include <string>

namespace fathom::server {

/// The policies that come with the program; the first one is active in a new network.
std::vector<MetricPolicy> shipped_policies();

/// Metric policies and scores (M16). Scores are computed from the raw measurements when asked, so any
/// policy can be tried on them. Thread-safe. `database` must outlive it.
class MeteringService {
  public:
    explicit MeteringService(Database& database) : database_(&database) {}

    /// Adds the shipped policies that are missing, and a new version of one whose content changed; the
    /// active policy moves on with it only while it is the shipped one. Blocks; call at start.
    Result<void> seed(const std::vector<MetricPolicy>& policies);

    asio::awaitable<Result<Page<PolicyRecord>>> list_policies(std::int64_t size, std::string after);
    /// `version` 0: the newest. @error kNotFound
    asio::awaitable<Result<PolicyRecord>> get_policy(std::string id, std::int64_t version);
    /// Adds it as the next version of its id, whatever version it names; not active.
    asio::awaitable<Result<PolicyRecord>> add_policy(Caller caller, MetricPolicy policy);
    /// `version` 0: the newest. @error kNotFound
    asio::awaitable<Result<PolicyRecord>> activate(Caller caller, std::string id, std::int64_t version);

    /// Measurements with the policy that they are to be scored by.
    struct Scores {
        MetricPolicy policy;
        Page<MeasurementRecord> measurements;
        std::map<std::string, Trust> trust; ///< by unit type's id; those that are missing are trusted
    };
    /// `policy` is empty for the active one, an id, or id@version.
    /// @error kInvalid  no such policy, or not a page token of this list.
    asio::awaitable<Result<Scores>> scores(std::string policy, MeasurementFilter filter, std::int64_t size,
                                           std::string after);

  private:
    Database* database_;
};

} // namespace fathom::server
