#pragma once

#include "agent/executor/executor.hpp"
#include "agent/executor/remote/executor_messages.hpp"

#include <chrono>

namespace fathom::agent {

/// The executor of another process, the helper, which may have the rights that starting jobs takes. Each call waits for
/// its answer. Without the helper nothing can be done or told, so this process then ends, with code 70; jobs go on.
/// Not thread-safe.
class RemoteExecutor final : public Executor {
  public:
    /// `changes` is the other executor's change_descriptor(), or none; `facts` and `places` are its own, and
    /// `kept_file_read` reads what it keeps (ask_for_kept_files).
    RemoteExecutor(OpenFile socket, OpenFile changes, Json facts, bool places, KeptFileRead kept_file_read)
        : socket_(std::move(socket)), changes_(std::move(changes)), facts_(std::move(facts)), places_(places),
          kept_file_read_(std::move(kept_file_read))
    {
    }

    bool places() const override { return places_; }

    void prepare() override;
    Result<void> start(const RunOrder& run) override;
    RunView look(const AttemptId& id) override;
    void look_at_queues(const std::vector<QueuePlace>& places) override;
    void watch(const AttemptId& id) override;
    void unwatch(const AttemptId& id) override;
    ExecutorChanges changes() override;
    int change_descriptor() const override { return changes_.number(); }
    std::vector<std::int64_t> given_cpus(const AttemptId& id) override;
    void cancel(const AttemptId& id) override;
    Result<std::string> read_output(const AttemptId& id, OutputStream stream, std::int64_t offset,
                                    std::size_t max_bytes) override;
    KeptFileRead kept_file_read() const override { return kept_file_read_; }
    void end_leftovers(const AttemptId& id) override;
    std::vector<AttemptId> known() override;
    Result<void> remove(const AttemptId& id) override;
    Json facts() const override { return facts_; }

    /// The settings as the helper reads them now.
    /// @error kInvalid  they are wrong.
    Result<std::string> read_settings();

  private:
    void send(ExecutorRequest request, std::string_view text);
    Result<std::string> ask(ExecutorRequest request, std::string_view text);

    OpenFile socket_;
    OpenFile changes_;
    Json facts_;
    bool places_;
    KeptFileRead kept_file_read_;
    bool has_started_ = true; ///< something, since prepare() was passed on
    std::chrono::steady_clock::time_point prepared_{};
};

} // namespace fathom::agent
