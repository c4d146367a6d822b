#pragma once

#include "server/api/compute_pool.hpp"
#include "server/simulations/own_network.hpp"
#include "simulator/what_if/network_change.hpp"

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace fathom::simulation {
struct LiveExport;
struct ExportSpan;
} // namespace fathom::simulation

namespace fathom::server {

struct SimulationLimits {
    std::chrono::milliseconds time{60'000}; ///< from the question to the answer
};

/// What is simulated.
struct SimulationOrder {
    static constexpr double kMaxDays = 90;
    static constexpr std::int64_t kMaxJobs = 20'000;

    double days = 7;                     ///< jobs submitted so long ago at most, and those that have not ended
    std::int64_t max_jobs = kMaxJobs;    ///< the newest of these
    std::string policy = "fathom";       ///< before the changes
    std::string policy_after = "fathom"; ///< names of simulation::policy_names()
    std::uint64_t seed = 1;
    std::vector<simulation::NetworkChange> changes;
};

/// Simulates the network as it is and as it would be with changes, with the jobs that it had. One at a time, on a
/// thread of its own: neither the network's threads nor the database's wait for it. Thread-safe.
class SimulationsService {
  public:
    /// All that `means` points to must outlive the service.
    SimulationsService(OwnNetwork::Means means, const Clock& clock, SimulationLimits limits = {});

    /// Figures before and after, as POST /simulations answers.
    /// @param caller  with whose rights the network is read.
    /// @error kTooMany      another simulation runs.
    /// @error kInvalid      the changes do not fit the network: fields name what does not.
    /// @error kInfeasible   the network had no jobs in these days, or with the changes can run none of them.
    /// @error kDeadline     it takes longer than it may.
    /// @error kUnavailable  the server is stopping.  Others as the routes that are asked.
    asio::awaitable<Result<Json>> compare(Principal caller, SimulationOrder order);

    /// What runs ends soon, with kUnavailable, and nothing new begins.
    void stop();

  private:
    using StopFlag = std::shared_ptr<std::atomic<bool>>;

    /// Empty: the server is stopping.
    StopFlag begin();
    /// Blocks: on the pool's thread.
    Result<Json> simulate(const Principal& caller, const SimulationOrder& order, const std::atomic<bool>& stop) const;
    Error stopped_error();

    const OwnNetwork::Means means_;
    const Clock* clock_;
    const SimulationLimits limits_;
    TokenPlaces place_{1};
    std::mutex mutex_;
    bool is_stopping_ = false;
    StopFlag running_;                 ///< of the one that runs
    ComputePool pool_{{.threads = 1}}; ///< the last member, so that it ends first
};

} // namespace fathom::server
