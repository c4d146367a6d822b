#include "agent/executor/remote/executor_messages.hpp"

#include "agent/executor/run_order.hpp"
#include "core/base/error_text.hpp"
#include "core/base/sha256.hpp"
#include "core/model/name_limits.hpp"
#include "schema/link/messages.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>

namespace fathom::agent {
namespace {

constexpr std::size_t kMaxQueuePlaces = 1000;
constexpr std::int64_t kMaxQueueWall_s = 86'400;
constexpr time_t kMessageTimeoutS = 60; ///< with the other end, in the middle of a message

using Length = std::uint32_t;

Error failed(const std::string& what)
{
    return {Errc::kUnavailable, "the agent's other process: " + what};
}

/// Fills the whole block. False at the end of the stream, or after an error.
bool receive_all(int socket, char* block, std::size_t size)
{
    while (size > 0) {
        const ssize_t received = ::recv(socket, block, size, 0);
        if (received < 0 && errno == EINTR) continue;
        if (received <= 0) return false;
        block += received;
        size -= static_cast<std::size_t>(received);
    }
    return true;
}

bool wait_for_input(int socket)
{
    pollfd waiting{socket, POLLIN, 0};
    int ready = 0;
    do
        ready = ::poll(&waiting, 1, -1);
    while (ready < 0 && errno == EINTR);
    return ready > 0;
}

Result<AttemptId> read_attempt_id(ObjectReader& reader)
{
    const std::optional<AttemptId> id = AttemptId::parse(reader.required_string("attempt_id", {.max_length = 64}));
    if (!id) return Error{Errc::kInvalid, "not an attempt's id"};
    return *id;
}

Json ids_of(const std::set<AttemptId>& attempts)
{
    Json ids = Json::array();
    for (const AttemptId& id : attempts)
        ids.push_back(id.value);
    return ids;
}

std::set<AttemptId> read_ids(ObjectReader& reader, std::string_view name)
{
    constexpr std::size_t kMaxAttempts = 1UL << 20U;
    std::set<AttemptId> attempts;
    for (const std::string& text : reader.strings(name, kMaxAttempts, {.max_length = 64})) {
        if (std::optional<AttemptId> id = AttemptId::parse(text)) attempts.insert(std::move(*id));
    }
    return attempts;
}

} // namespace

Result<ExecutorSockets> make_executor_sockets()
{
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return failed(error_text(errno));
    for (const int end : ends) {
        const timeval timeout{kMessageTimeoutS, 0};
        ::setsockopt(end, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
        ::setsockopt(end, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
    }
    return ExecutorSockets{OpenFile(ends[0]), OpenFile(ends[1])};
}

Result<void> send_message(int socket, std::string_view text)
{
    if (text.size() > kMaxExecutorMessageBytes)
        return Error{Errc::kTooLarge,
                     "a message within the agent would have " + std::to_string(text.size()) + " bytes"};
    auto length = static_cast<Length>(text.size());
    std::size_t sent = 0; // of both together
    while (sent < sizeof length + text.size()) {
        const std::size_t skipped = std::min(sent, sizeof length);
        // sendmsg() only reads them.
        std::array<iovec, 2> parts{
            {{reinterpret_cast<char*>(&length) + skipped, sizeof length - skipped},
             {const_cast<char*>(text.data()) + (sent - skipped), text.size() - (sent - skipped)}}}; // NOLINT
        msghdr message{};
        message.msg_iov = parts.data();
        message.msg_iovlen = parts.size();
        const ssize_t size = ::sendmsg(socket, &message, MSG_NOSIGNAL);
        if (size < 0 && errno == EINTR) continue;
        if (size < 0) return failed(error_text(errno));
        sent += static_cast<std::size_t>(size);
    }
    return {};
}

Result<std::string> receive_message(int socket)
{
    Length length = 0;
    std::array<char, sizeof length> head{};
    if (!wait_for_input(socket)) return failed(error_text(errno));
    ssize_t first = 0;
    do
        first = ::recv(socket, head.data(), 1, 0);
    while (first < 0 && errno == EINTR);
    if (first == 0) return Error{Errc::kNotFound, "the agent's other process has ended"};
    if (first < 0) return Error{errno == ECONNRESET ? Errc::kNotFound : Errc::kUnavailable, error_text(errno)};
    if (!receive_all(socket, head.data() + 1, head.size() - 1)) return failed("half a message");
    std::memcpy(&length, head.data(), sizeof length);
    if (length > kMaxExecutorMessageBytes) return failed("a message of " + std::to_string(length) + " bytes");
    std::string text(length, '\0');
    if (!receive_all(socket, text.data(), text.size())) return failed("half a message");
    return text;
}

std::string encode(const RunView& view)
{
    Json json = {{"phase", static_cast<int>(view.phase)}};
    if (view.started_at) json["started_at"] = format_rfc3339(*view.started_at);
    if (view.end) json["end"] = link::encode(link::make_message(link::AttemptEnded{*view.end}));
    if (view.queue) {
        json["reason"] = view.queue->reason;
        if (view.queue->expected_start) json["expected_start"] = format_rfc3339(*view.queue->expected_start);
    }
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<RunView> decode_run_view(std::string_view text)
{
    const Result<Json> json = parse_json(text, {.max_bytes = kMaxExecutorMessageBytes});
    if (!json) return json.error();
    std::vector<FieldError> errors;
    ObjectReader reader(*json, "", errors);
    RunView view;
    view.phase = static_cast<RunPhase>(reader.required_integer("phase", 0, static_cast<int>(RunPhase::kQueued)));
    view.started_at = reader.optional_time("started_at");
    if (const auto end = reader.optional_string("end", {.max_length = link::kMaxMessageBytes})) {
        auto decoded = link::decode(*end);
        auto* message = std::get_if<link::Message>(&decoded);
        auto* ended = message == nullptr ? nullptr : std::get_if<link::AttemptEnded>(&message->body);
        if (ended == nullptr) return Error{Errc::kInvalid, "not an attempt's end"};
        view.end = std::move(ended->end);
    }
    if (const auto reason = reader.optional_string("reason", {.max_length = 4096}))
        view.queue = QueueState{*reason, reader.optional_time("expected_start")};
    return value_or_errors(std::move(view), std::move(errors), "a look at an attempt");
}

std::string encode(const std::vector<QueuePlace>& places)
{
    Json items = Json::array();
    for (const QueuePlace& one : places)
        items.push_back(
            {{"unit_type", one.unit_type}, {"place", to_json(one.place)}, {"wall_limit_s", one.wall_limit_s}});
    return Json{{"places", std::move(items)}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<std::vector<QueuePlace>> decode_queue_places(std::string_view text)
{
    const Result<Json> json = parse_json(text, {.max_bytes = kMaxExecutorMessageBytes});
    if (!json) return json.error();
    std::vector<FieldError> errors;
    ObjectReader reader(*json, "", errors);
    std::vector<QueuePlace> places;
    const Json* items = reader.array("places", 0, kMaxQueuePlaces);
    for (std::size_t i = 0; items != nullptr && i < items->size(); ++i) {
        const Json& item = (*items)[i];
        ObjectReader one(item, "places[" + std::to_string(i) + "]", errors);
        std::string type = one.required_string("unit_type", {.min_length = 1, .max_length = kMaxUnitTypeNameBytes});
        Result<BatchPlace> place = read_batch_place(item.is_object() ? item.value("place", Json()) : Json());
        if (!place) return place.error();
        const std::int64_t wall_limit_s = one.required_integer("wall_limit_s", 1, kMaxQueueWall_s);
        places.push_back({std::move(type), std::move(*place), wall_limit_s});
    }
    return value_or_errors(std::move(places), std::move(errors), "a list of queues");
}

std::string encode(const ExecutorChanges& changes)
{
    Json queues = Json::array();
    for (const TypeQueue& one : changes.queues) {
        Json json = {{"unit_type", one.unit_type}};
        if (one.expected_start) json["expected_start"] = format_rfc3339(*one.expected_start);
        queues.push_back(std::move(json));
    }
    return Json{{"moved", ids_of(changes.moved)},
                {"written", ids_of(changes.written)},
                {"some_missed", changes.some_missed},
                {"queues", std::move(queues)}}
        .dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<ExecutorChanges> decode_changes(std::string_view text)
{
    const Result<Json> json = parse_json(text, {.max_bytes = kMaxExecutorMessageBytes});
    if (!json) return json.error();
    std::vector<FieldError> errors;
    ObjectReader reader(*json, "", errors);
    ExecutorChanges changes{.moved = read_ids(reader, "moved"), .written = read_ids(reader, "written")};
    changes.some_missed = reader.optional_boolean("some_missed").value_or(false);
    const Json* queues = reader.array("queues", 0, kMaxQueuePlaces);
    for (std::size_t i = 0; queues != nullptr && i < queues->size(); ++i) {
        ObjectReader one((*queues)[i], "queues[" + std::to_string(i) + "]", errors);
        changes.queues.push_back(
            {one.required_string("unit_type", {.min_length = 1, .max_length = kMaxUnitTypeNameBytes}),
             one.optional_time("expected_start")});
    }
    return value_or_errors(std::move(changes), std::move(errors), "a list of changes");
}

std::string encode(const OutputQuestion& question)
{
    return Json{{"attempt_id", question.attempt_id.value},
                {"stream", to_string(question.stream)},
                {"offset", question.offset},
                {"max_bytes", question.max_bytes}}
        .dump();
}

Result<OutputQuestion> decode_output_question(std::string_view text)
{
    const Result<Json> json = parse_json(text, {.max_bytes = 4096});
    if (!json) return json.error();
    std::vector<FieldError> errors;
    ObjectReader reader(*json, "", errors);
    const Result<AttemptId> id = read_attempt_id(reader);
    if (!id) return id.error();
    constexpr auto kFarthest = std::numeric_limits<std::int64_t>::max();
    OutputQuestion question{.attempt_id = *id};
    const std::string stream = reader.required_string("stream", {.one_of = {"stdout", "stderr"}});
    question.stream = stream == "stderr" ? OutputStream::kStderr : OutputStream::kStdout;
    question.offset = reader.required_integer("offset", 0, kFarthest);
    question.max_bytes = static_cast<std::size_t>(reader.required_integer("max_bytes", 0, kFarthest));
    return value_or_errors(std::move(question), std::move(errors), "a question for output");
}

std::string encode(const KeptFileQuestion& question)
{
    return Json{{"sha256", question.sha256}, {"offset", question.offset}, {"max_bytes", question.max_bytes}}.dump();
}

Result<KeptFileQuestion> decode_kept_file_question(std::string_view text)
{
    const Result<Json> json = parse_json(text, {.max_bytes = 4096});
    if (!json) return json.error();
    constexpr auto kFarthest = std::numeric_limits<std::int64_t>::max() - static_cast<std::int64_t>(kMaxOutputBytes);
    std::vector<FieldError> errors;
    ObjectReader reader(*json, "", errors);
    KeptFileQuestion question;
    question.sha256 = reader.required_string("sha256", {.max_length = kSha256Digits});
    // It becomes the name of a file.
    if (!is_sha256(question.sha256)) reader.fail("sha256", "must be 64 lower-case hex digits");
    question.offset = reader.required_integer("offset", 0, kFarthest);
    question.max_bytes = static_cast<std::size_t>(reader.required_integer("max_bytes", 0, kFarthest));
    return value_or_errors(std::move(question), std::move(errors), "a question for a kept file");
}

} // namespace fathom::agent
