#pragma once

#include "agent/catalog/batch_place.hpp"
#include "agent/executor/slurm/leaf_switches.hpp"
#include "agent/executor/slurm/slurm_orders.hpp"

#include <chrono>

namespace fathom::agent {

/// What nodes keep for their systems, and which switches connect them, as scontrol said last. It is asked again only
/// after some minutes, or when sinfo shows other nodes: its answer is by far the longest of Slurm's, and costs
/// slurmctld the most.
struct SlurmNodeDetails {
    std::map<std::string, SlurmReserve, std::less<>> reserves{}; ///< by node
    LeafSwitches leaf_switches{};
    std::vector<SlurmNode> nodes{}; ///< as sinfo showed them then
    std::optional<std::chrono::steady_clock::time_point> asked_at{};
};
inline constexpr std::chrono::minutes kNodeDetailsInterval{5};

/// Slurm's own programs. Each function blocks until the program has ended, for a minute at most. Thread-safe.
class SlurmClient final : public SlurmOrders {
  public:
    /// `user` is who asks when a job would start; without one it is this process.
    SlurmClient(SlurmConfig config, std::optional<JobUser> user) : config_(std::move(config)), user_(std::move(user)) {}

    /// With another user than this process's, it takes root.
    Result<std::string> submit(const std::filesystem::path& script, const std::optional<JobUser>& user) override;
    Result<std::vector<SlurmJob>> queue(const std::set<unsigned>& users) override;
    Result<std::vector<SlurmJob>> accounts(const std::vector<std::string>& jobs) override;
    Result<void> cancel(const std::vector<std::string>& jobs, const std::optional<JobUser>& user) override;

    /// When a job of one unit there with such a limit would start if it were submitted now; empty: Slurm does not say,
    /// or would not take it. Submits nothing.
    /// @error kUnavailable  Slurm does not answer.
    Result<std::optional<Timestamp>> expected_start(const BatchPlace& place, std::int64_t wall_limit_s) const;

    /// The nodes of all partitions that the center offers, less what they keep for their systems.
    /// @param details  what is known of them from earlier calls; brought up to date.
    /// @error kUnavailable  Slurm does not answer, or shows no node.
    Result<std::vector<SlurmNode>>
    nodes(SlurmNodeDetails& details,
          std::chrono::steady_clock::time_point now = std::chrono::steady_clock::now()) const;

    /// Such as `slurm-wlm 22.05.8`; empty when it cannot be told.
    std::string version() const;

  private:
    /// Of the times that a program prints. Jobs take the zone from the sbatch that submits them, so that one is not
    /// told.
    enum class TimeZone { kHost, kUtc };

    /// @param starter  the program that starts it, with arguments; empty: this process does.
    Result<std::string> run(const char* program, const std::vector<std::string>& arguments, std::size_t most_bytes,
                            TimeZone zone = TimeZone::kHost, std::vector<std::string> starter = {}) const;
    void ask_for_details(const std::vector<SlurmNode>& nodes, std::chrono::steady_clock::time_point now,
                         SlurmNodeDetails& details) const;
    SlurmConfig config_;
    std::optional<JobUser> user_;
};

} // namespace fathom::agent
