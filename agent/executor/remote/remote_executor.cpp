#include "agent/executor/remote/remote_executor.hpp"

#include "agent/config/cpu_list.hpp"
#include "agent/executor/require.hpp"
#include "agent/executor/run_order.hpp"
#include "core/base/process_answer.hpp"

#include <poll.h>
#include <sstream>

namespace fathom::agent {
namespace {

/// Between two preparations for starts that did not come.
constexpr std::chrono::seconds kPrepareInterval{1};

/// Of the helper's answers.
template <class T>
T require_helper(Result<T> result)
{
    return require(std::move(result), "helper_failed");
}

} // namespace

void RemoteExecutor::send(ExecutorRequest request, std::string_view text)
{
    std::string message(1, static_cast<char>(request));
    message += text;
    require_helper(send_message(socket_.number(), message));
}

Result<std::string> RemoteExecutor::ask(ExecutorRequest request, std::string_view text)
{
    send(request, text);
    return decode_answer(require_helper(receive_message(socket_.number())));
}

void RemoteExecutor::prepare()
{
    const auto now = std::chrono::steady_clock::now();
    if (!has_started_ && now - prepared_ < kPrepareInterval) return;
    has_started_ = false;
    prepared_ = now;
    send(ExecutorRequest::kPrepare, "");
}

Result<void> RemoteExecutor::start(const RunOrder& run)
{
    has_started_ = true;
    const std::string text = to_json(run).dump(-1, ' ', false, Json::error_handler_t::replace);
    if (text.size() >= kMaxExecutorMessageBytes)
        return Error{Errc::kTooLarge, "the order has " + std::to_string(text.size()) + " bytes"};
    const Result<std::string> started = ask(ExecutorRequest::kStart, text);
    if (!started) return started.error();
    return {};
}

RunView RemoteExecutor::look(const AttemptId& id)
{
    return require_helper(decode_run_view(require_helper(ask(ExecutorRequest::kLook, id.value))));
}

void RemoteExecutor::watch(const AttemptId& id)
{
    require_helper(ask(ExecutorRequest::kWatch, id.value));
}

void RemoteExecutor::look_at_queues(const std::vector<QueuePlace>& places)
{
    require_helper(ask(ExecutorRequest::kLookAtQueues, encode(places)));
}

void RemoteExecutor::unwatch(const AttemptId& id)
{
    require_helper(ask(ExecutorRequest::kUnwatch, id.value));
}

ExecutorChanges RemoteExecutor::changes()
{
    pollfd waiting{changes_.number(), POLLIN, 0};
    if (::poll(&waiting, 1, 0) <= 0) return {};
    return require_helper(decode_changes(require_helper(ask(ExecutorRequest::kChanges, ""))));
}

std::vector<std::int64_t> RemoteExecutor::given_cpus(const AttemptId& id)
{
    return require_helper(parse_cpu_list(require_helper(ask(ExecutorRequest::kGivenCpus, id.value))));
}

void RemoteExecutor::cancel(const AttemptId& id)
{
    require_helper(ask(ExecutorRequest::kCancel, id.value));
}

Result<std::string> RemoteExecutor::read_output(const AttemptId& id, OutputStream stream, std::int64_t offset,
                                                std::size_t max_bytes)
{
    return ask(ExecutorRequest::kReadOutput, encode(OutputQuestion{id, stream, offset, max_bytes}));
}

void RemoteExecutor::end_leftovers(const AttemptId& id)
{
    require_helper(ask(ExecutorRequest::kEndLeftovers, id.value));
}

std::vector<AttemptId> RemoteExecutor::known()
{
    std::vector<AttemptId> attempts;
    std::istringstream lines(require_helper(ask(ExecutorRequest::kKnown, "")));
    for (std::string line; std::getline(lines, line);) {
        if (std::optional<AttemptId> id = AttemptId::parse(line)) attempts.push_back(std::move(*id));
    }
    return attempts;
}

Result<void> RemoteExecutor::remove(const AttemptId& id)
{
    const Result<std::string> removed = ask(ExecutorRequest::kRemove, id.value);
    if (!removed) return removed.error();
    return {};
}

Result<std::string> RemoteExecutor::read_settings()
{
    return ask(ExecutorRequest::kReadSettings, "");
}

} // namespace fathom::agent
