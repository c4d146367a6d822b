#pragma once

#include "agent/executor/local/attempt_folder.hpp"

namespace fathom::agent {

struct LocalExecutorOptions {
    std::filesystem::path attempts;   ///< folder that holds one folder for each attempt
    std::filesystem::path supervisor; ///< the program that has the subcommand `supervise`
    std::filesystem::path programs;   ///< folder of fathom-probe
    std::int64_t output_limit_bytes = 16LL << 20U;
    std::optional<JobUser> user; ///< empty: jobs run as the agent does
};

/// Runs attempts on this host, each under a supervisor process of its own (see AttemptFolder for what
/// passes between them).
class LocalExecutor final : public Executor {
  public:
    explicit LocalExecutor(LocalExecutorOptions options);

    Result<void> start(const RunOrder& run) override;
    RunView look(const AttemptId& id) override;
    void cancel(const AttemptId& id) override;
    Result<std::string> read_output(const AttemptId& id, OutputStream stream, std::int64_t offset,
                                    std::size_t max_bytes) override;
    void end_leftovers(const AttemptId& id) override;
    std::vector<AttemptId> known() override;
    Result<void> remove(const AttemptId& id) override;
    Json facts() const override;

  private:
    AttemptFolder folder_of(const AttemptId& id) const { return AttemptFolder(options_.attempts / id.value); }

    LocalExecutorOptions options_;
    std::vector<std::string> controllers_; ///< control groups that work here
};

/// The user that jobs shall run as: `wanted`, or the first of fathom and nobody; none when this process
/// is not root, or when `wanted` is root.
/// @error kInvalid  there is no such user; or another user is wanted and this process is not root.
Result<std::optional<JobUser>> find_job_user(const std::string& wanted);

} // namespace fathom::agent
