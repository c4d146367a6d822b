#include "agent/executor/remote/executor_service.hpp"

#include "agent/config/cpu_list.hpp"
#include "agent/executor/remote/executor_messages.hpp"
#include "agent/executor/run_order.hpp"
#include "core/base/process_answer.hpp"

#include <algorithm>

namespace fathom::agent {
namespace {

constexpr std::size_t kOrderDepth = 8; ///< levels of nesting; the order proper is a text in there

bool is_count(std::int64_t count)
{
    return count >= 1 && count <= 1'000'000;
}

Result<void> check_units_of(const BatchPlace& place)
{
    const bool has_devices = place.devices_per_unit != 0;
    if (is_count(place.cpus_per_unit) && is_count(place.units_per_node) && place.units_per_switch >= 0 &&
        place.memory_bytes_per_unit >= 0 && (!has_devices || is_count(place.devices_per_unit)))
        return {};
    return Error{Errc::kInvalid, "units of no or too many processors or devices"};
}

Result<std::string> done(const Result<void>& result)
{
    if (!result) return result.error();
    return std::string();
}

} // namespace

std::optional<std::string> ExecutorService::serve(const std::string& message)
{
    const char kind = message.empty() ? '\0' : message[0];
    if (kind == static_cast<char>(ExecutorRequest::kPrepare)) {
        executor_.prepare();
        return std::nullopt;
    }
    return encode_answer(answer(kind, std::string_view(message).substr(message.empty() ? 0 : 1)));
}

Result<std::string> ExecutorService::answer(char kind, std::string_view text)
{
    const auto request = static_cast<ExecutorRequest>(kind);
    switch (request) {
    case ExecutorRequest::kStart:
        return start(text);
    case ExecutorRequest::kChanges:
        return encode(executor_.changes());
    case ExecutorRequest::kReadOutput:
        return read_output(text);
    case ExecutorRequest::kKnown:
        return known();
    case ExecutorRequest::kLookAtQueues:
        return look_at_queues(text);
    case ExecutorRequest::kReadSettings:
        return read_settings ? read_settings() : Error{Errc::kUnavailable, "there are none"};
    case ExecutorRequest::kPrepare:
    case ExecutorRequest::kLook:
    case ExecutorRequest::kWatch:
    case ExecutorRequest::kUnwatch:
    case ExecutorRequest::kGivenCpus:
    case ExecutorRequest::kCancel:
    case ExecutorRequest::kEndLeftovers:
    case ExecutorRequest::kRemove:
        break;
    }
    const std::optional<AttemptId> id = AttemptId::parse(text);
    if (!id) return Error{Errc::kInvalid, "the helper does not know the request, or not such an attempt"};
    return answer_of_attempt(request, *id);
}

Result<std::string> ExecutorService::answer_of_attempt(ExecutorRequest request, const AttemptId& id)
{
    switch (request) {
    case ExecutorRequest::kLook:
        return encode(executor_.look(id));
    case ExecutorRequest::kGivenCpus:
        return format_cpu_list(executor_.given_cpus(id));
    case ExecutorRequest::kRemove:
        return done(executor_.remove(id));
    case ExecutorRequest::kWatch:
        executor_.watch(id);
        return std::string();
    case ExecutorRequest::kUnwatch:
        executor_.unwatch(id);
        return std::string();
    case ExecutorRequest::kCancel:
        executor_.cancel(id);
        return std::string();
    case ExecutorRequest::kEndLeftovers:
        executor_.end_leftovers(id);
        return std::string();
    case ExecutorRequest::kPrepare:
    case ExecutorRequest::kStart:
    case ExecutorRequest::kChanges:
    case ExecutorRequest::kReadOutput:
    case ExecutorRequest::kKnown:
    case ExecutorRequest::kLookAtQueues:
    case ExecutorRequest::kReadSettings:
        break; // they name no attempt
    }
    return Error{Errc::kInvalid, "the helper does not know the request"};
}

Result<std::string> ExecutorService::start(std::string_view text)
{
    const Result<Json> json = parse_json(text, {.max_bytes = kMaxExecutorMessageBytes, .max_depth = kOrderDepth});
    if (!json) return json.error();
    Result<RunOrder> run = read_run_order(*json);
    if (!run) return Error{Errc::kInvalid, "not an order: " + run.error().detail};
    if (!AttemptId::parse(run->order.attempt_id.value)) return Error{Errc::kInvalid, "not an attempt's id"};
    if (run->memory_bytes < 0) return Error{Errc::kInvalid, "an order with less than no memory"};
    const Result<void> checked = executor_.places() ? check_place(*run) : check_cpus(*run);
    if (!checked) return checked.error();
    return done(executor_.start(*run));
}

Result<void> ExecutorService::check_cpus(RunOrder& run) const
{
    if (run.cpus.empty()) return Error{Errc::kInvalid, "an order without processors"};
    for (const std::int64_t cpu : run.cpus) {
        if (!cpus_.contains(cpu))
            return Error{Errc::kInvalid, "the center does not offer processor " + std::to_string(cpu)};
    }
    // How many processes it may have goes by them.
    run.cores = std::clamp<std::int64_t>(run.cores, 1, static_cast<std::int64_t>(run.cpus.size()));
    return {};
}

Result<void> ExecutorService::check_place(RunOrder& run)
{
    if (!run.place) return Error{Errc::kInvalid, "an order that does not say where the batch system is to run it"};
    if (const Result<void> checked = check_units_of(*run.place); !checked) return checked;
    if (!is_count(run.order.unit_count)) return Error{Errc::kInvalid, "an order for no or too many units"};
    run.cores = std::clamp<std::int64_t>(run.cores, 1, run.place->cpus_per_unit * run.order.unit_count);
    return {};
}

Result<std::string> ExecutorService::look_at_queues(std::string_view text)
{
    const Result<std::vector<QueuePlace>> places = decode_queue_places(text);
    if (!places) return places.error();
    for (const QueuePlace& one : *places) {
        if (const Result<void> checked = check_units_of(one.place); !checked) return checked.error();
    }
    executor_.look_at_queues(*places);
    return std::string();
}

Result<std::string> ExecutorService::read_output(std::string_view text)
{
    const Result<OutputQuestion> question = decode_output_question(text);
    if (!question) return question.error();
    return executor_.read_output(question->attempt_id, question->stream, question->offset,
                                 std::min(question->max_bytes, kMaxOutputBytes));
}

Result<std::string> ExecutorService::known() const
{
    std::string lines;
    for (const AttemptId& id : executor_.known())
        lines += id.value + "\n";
    return lines;
}

} // namespace fathom::agent
