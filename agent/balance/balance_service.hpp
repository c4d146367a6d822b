#pragma once

#include "agent/balance/balance_trace.hpp"
#include "agent/balance/host_files.hpp"
#include "agent/balance/sub_unit_source.hpp"
#include "agent/balance/unit_loop.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace fathom::agent {

/// Where the loops' process finds and leaves things.
struct BalancePlaces {
    std::filesystem::path attempts; ///< folders of this host's attempts
    std::filesystem::path journal;  ///< a file in a folder that nobody else may write to
    HostFiles files;
};

/// All loops of a center: made from its settings, stepped in turn. Not thread-safe; blocks.
class BalanceService {
  public:
    /// The source must outlive the service.
    BalanceService(BalanceConfig config, BalancePlaces places, BalanceTrace trace, SubUnitSource& sub_units);

    /// Puts back what an earlier process left changed, then makes the loops.
    /// @error kUnavailable  the journal cannot be read.
    Result<void> start();
    /// Several times a period, for sensors that only show the moment.
    void sample();
    /// Once a period.
    void step(Timestamp now);
    /// Everything as it was before. No step comes after it.
    void stop();

    const BalanceTrace& trace() const { return trace_; }

  private:
    UnitLoop make_loop(const BalancedUnit& unit);

    BalanceConfig config_;
    BalancePlaces places_;
    BalanceTrace trace_;
    SubUnitSource& sub_units_;
    UnitJobs jobs_;
    std::unique_ptr<BalanceJournal> journal_;
    std::vector<UnitLoop> loops_; ///< one for each of the config's units
};

/// Puts back what the journal says, without loops: for an agent whose balancing has been switched off since.
void put_back_earlier_changes(const std::filesystem::path& journal, SubUnitSource& sub_units);

/// Runs the service until `stop_descriptor` can be read. Blocks.
/// @error kUnavailable  it could not start.
Result<void> run_balance(BalanceService& service, double period_s, int stop_descriptor);

} // namespace fathom::agent
