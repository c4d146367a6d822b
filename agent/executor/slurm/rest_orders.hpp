#pragma once

#include "agent/executor/slurm/rest_answers.hpp"
#include "agent/executor/slurm/slurm_orders.hpp"
#include "core/base/clock.hpp"

namespace fathom::agent {

/// Orders by slurmrestd's v0.0.38 (Slurm 22.05), over a socket of this host or loopback TCP, with a token (JWT) from a
/// file. Slurm's user or root may have a token for others: it is asked as a job's user then.
class RestOrders final : public SlurmOrders {
  public:
    /// @param config  `rest` and `token_file` are set. At start, before there are other threads.
    explicit RestOrders(SlurmConfig config);

    Result<std::string> submit(const std::filesystem::path& script, const std::optional<JobUser>& user) override;
    Result<std::vector<SlurmJob>> queue(const std::set<unsigned>& users) override;
    Result<std::vector<SlurmJob>> accounts(const std::vector<std::string>& jobs) override;
    Result<void> cancel(const std::vector<std::string>& jobs, const std::optional<JobUser>& user) override;

  private:
    /// What is to be asked.
    struct Question {
        const char* method; ///< GET, POST or DELETE
        std::string path;   ///< with the query
        std::string body{}; ///< JSON
        std::string user{}; ///< as whom; empty: as whose the token is
        std::chrono::seconds timeout;
    };
    /// @error kUnavailable  slurmrestd does not answer, or there is no token for it.
    Result<RestAnswer> ask(const Question& question) const;
    /// Says once that Slurm would start jobs again by itself, which slurmrestd cannot be told not to have.
    void tell_requeue(const std::vector<SlurmJob>& jobs);
    std::string name_of(const std::optional<JobUser>& user) const { return user ? user->name : own_name_; }

    SlurmConfig config_;
    std::string own_name_; ///< of this process's user
    SystemClock clock_;
    bool has_told_requeue_ = false;
};

} // namespace fathom::agent
