#pragma once

#include "agent/config/agent_config.hpp"
#include "agent/executor/local/attempt_folder.hpp"
#include "agent/executor/slurm/slurm_text.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace fathom::agent {

/// How orders reach Slurm, and what it says of jobs comes back: by its own programs (SlurmClient) or by slurmrestd
/// (RestOrders). Each function blocks, for about a minute at most. For one thread at a time.
class SlurmOrders {
  public:
    SlurmOrders() = default;
    virtual ~SlurmOrders() = default;
    SlurmOrders(const SlurmOrders&) = delete;
    SlurmOrders& operator=(const SlurmOrders&) = delete;

    /// Submits a batch script (batch_script()), whose job runs as `user`; as this process without one.
    /// @return the job's number.
    /// @error kInvalid      Slurm refuses it, and would for as long as the cluster's settings are what they are.
    /// @error kTooMany      Slurm refuses it now, for a limit, say; the detail has its words. Try again later.
    /// @error kUnavailable  Slurm does not answer, or is not asked. It may have the job all the same.
    virtual Result<std::string> submit(const std::filesystem::path& script, const std::optional<JobUser>& user) = 0;

    /// All jobs of these users, at least one, also those that ended lately.
    /// @error kUnavailable  Slurm does not answer.
    virtual Result<std::vector<SlurmJob>> queue(const std::set<unsigned>& users) = 0;

    /// Of these jobs, at least one, those that Slurm's accounting knows.
    /// @error kInfeasible   Slurm keeps none here that could be asked.
    /// @error kUnavailable  slurmdbd does not answer.
    virtual Result<std::vector<SlurmJob>> accounts(const std::vector<std::string>& jobs) = 0;

    /// Asks for the end of jobs; those that have ended are passed over. It is asked as `user`, so that Slurm ends no
    /// other user's job, whatever numbers stand in notes of jobs.
    virtual Result<void> cancel(const std::vector<std::string>& jobs, const std::optional<JobUser>& user) = 0;
};

/// The way that the settings name.
/// @param user  who jobs without another user run as; empty: this process's
std::unique_ptr<SlurmOrders> make_slurm_orders(const SlurmConfig& config, const std::optional<JobUser>& user);

} // namespace fathom::agent
