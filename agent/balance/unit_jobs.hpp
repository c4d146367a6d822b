#pragma once

#include "agent/config/balance_table.hpp"
#include "core/decide/balance/precision.hpp"
#include "core/model/attempt.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <sys/types.h>
#include <vector>

namespace fathom::agent {

/// A job that runs on a unit.
struct UnitJob {
    AttemptId attempt;
    std::filesystem::path work;                ///< its folder
    uid_t uid{};                               ///< whose that is
    std::optional<PrecisionRange> precision{}; ///< that it states (FATHOM_PRECISION_RANGE)
};

/// Which jobs run on which processors and devices, as the folders of attempts of this host tell. Not thread-safe;
/// blocks for milliseconds.
class UnitJobs {
  public:
    explicit UnitJobs(std::filesystem::path attempts) : attempts_(std::move(attempts)) {}

    /// Looks at what has begun and ended since the last call.
    void refresh();
    /// Those on a unit, in the order of their ids.
    std::vector<UnitJob> on(const BalancedUnit& unit) const;

  private:
    struct Known {
        UnitJob job;
        std::set<std::int64_t> cpus;
        std::vector<std::string> devices;
        bool is_running = false;
    };

    static std::optional<Known> read_attempt(const std::filesystem::path& folder);

    std::filesystem::path attempts_;
    std::map<std::string, std::optional<Known>> known_; ///< by folder; empty: its order cannot be read
};

} // namespace fathom::agent
