#pragma once

#include "agent/executor/executor.hpp"
#include "agent/executor/remote/executor_messages.hpp"

#include <functional>
#include <optional>
#include <set>

namespace fathom::agent {

/// The helper's side of a RemoteExecutor: has an executor do what the agent asks for, once that is seen to be no more
/// than the agent may ask. The agent hears the network and could be somebody else's, so: attempts are named by
/// well-formed ids only, and their folders by nothing but these; a program gets processors that the center offers, or
/// those that a batch system gives;
/// who it runs as is the executor's affair. Not thread-safe.
class ExecutorService {
  public:
    /// The executor must outlive the service.
    explicit ExecutorService(Executor& executor) : executor_(executor) {}

    /// These processors may be given from now on, besides earlier ones: an order may be on its way with those.
    void offer(const std::vector<std::int64_t>& cpus) { cpus_.insert(cpus.begin(), cpus.end()); }

    /// The answer to ExecutorRequest::kReadSettings.
    std::function<Result<std::string>()> read_settings;

    /// Serves one message. @return the answer as a message; empty when it gets none.
    std::optional<std::string> serve(const std::string& message);

  private:
    Result<std::string> answer(char kind, std::string_view text);
    /// The answer to a request whose text is an attempt's id.
    Result<std::string> answer_of_attempt(ExecutorRequest request, const AttemptId& id);
    Result<std::string> start(std::string_view text);
    Result<void> check_cpus(RunOrder& run) const;
    static Result<void> check_place(RunOrder& run);
    Result<std::string> look_at_queues(std::string_view text);
    Result<std::string> read_output(std::string_view text);
    Result<std::string> known() const;

    Executor& executor_;
    std::set<std::int64_t> cpus_;
};

} // namespace fathom::agent
