#include "server/outputs/outputs_api.hpp"

#include "core/base/hex.hpp"
#include "core/base/secret.hpp"
#include "server/api/caller.hpp"
#include "server/api/paced_stream.hpp"
#include "server/outputs/byte_range.hpp"
#include "server/outputs/output_file.hpp"

#include <algorithm>
#include <array>
#include <chrono>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

/// A center that is connected answers within milliseconds; one that is busy with its disk takes longer.
constexpr std::chrono::seconds kPieceWait = 15s;
/// Answers in work at once in one fathomd, each with a range in memory.
constexpr std::size_t kMaxAnswers = 32;
/// Of one token, or of all sessions of one account together: others find room beside slow readers.
constexpr std::size_t kMaxOfToken = 8;
/// Whoever takes an answer more slowly has it ended, and can go on from there.
constexpr double kMinBytesPerS = 64.0 * 1024;
constexpr int kPartialContent = 206;
constexpr int kRangeNotSatisfiable = 416;

/// What the answers have in common.
struct OutputFiles {
    OutputFiles(JobsService& service, KeptFiles& files, std::int64_t most, SteadyNow clock)
        : jobs(&service), kept(&files), most_bytes(most), now(std::move(clock))
    {
    }

    JobsService* const jobs;
    KeptFiles* const kept;
    const std::int64_t most_bytes;
    const SteadyNow now;
    TokenPlaces answers{kMaxAnswers}; ///< of all tokens together
    TokenPlaces of_token{kMaxOfToken};
};

/// What of which file an answer holds.
struct WantedPart {
    OutputFile file;
    ByteRange range;
    TokenTurns turns;     ///< of the client
    std::string token_id; ///< of the client
};

/// The next bytes of the part, from `at` on.
KeptRange range_of(const WantedPart& part, std::int64_t at)
{
    return {.center = part.file.center_id,
            .sha256 = part.file.sha256,
            .offset_bytes = at,
            .size_bytes = std::min(part.range.first + part.range.size - at, KeptFiles::kMaxRangeBytes)};
}

/// RFC 9530: the digest of the whole file, whatever part of it an answer holds.
std::string digest_field(const std::string& sha256)
{
    std::string bytes;
    for (std::size_t at = 0; at + 1 < sha256.size(); at += 2)
        bytes += static_cast<char>(parse_hex_byte(sha256[at], sha256[at + 1]).value_or(0));
    return "sha-256=:" + base64_encode(bytes) + ":";
}

/// A file name in a header: whatever else is in it could end the quotes, or the line.
std::string header_name(const std::string& path)
{
    std::string name = path.substr(path.rfind('/') + 1);
    for (char& c : name) {
        const bool is_plain = c > ' ' && c < '\x7F' && c != '"' && c != '\\';
        if (!is_plain) c = '_';
    }
    return name;
}

std::string entity_tag(const OutputFile& file)
{
    return "\"sha256-" + file.sha256 + "\"";
}

net::Headers file_headers(const OutputFile& file)
{
    return {{"Content-Type", "application/octet-stream"},
            {"Content-Disposition", "attachment; filename=\"" + header_name(file.path) + "\""},
            {"Accept-Ranges", "bytes"},
            {"Cache-Control", "no-store"},
            {"ETag", entity_tag(file)},
            {"Repr-Digest", digest_field(file.sha256)}};
}

net::Response not_satisfiable(const OutputFile& file, const std::string& request_id)
{
    const Error error{Errc::kInvalid,
                      "the range begins behind the end: the output has " + std::to_string(file.size_bytes) + " bytes"};
    net::Response response = net::problem(error, request_id);
    response.status = kRangeNotSatisfiable;
    Json body = Json::parse(response.body, nullptr, false);
    if (body.is_object()) {
        body["status"] = kRangeNotSatisfiable;
        if (body.contains("title")) body["title"] = "Range Not Satisfiable";
        response.body = body.dump();
    }
    response.headers["Content-Range"] = "bytes */" + std::to_string(file.size_bytes);
    return response;
}

/// What the request asks for; a Range that is for another content (If-Range) asks for all.
AskedRange asked_range(const net::Request& request, const OutputFile& file)
{
    const std::string_view only_if = request.header("If-Range");
    if (!only_if.empty() && only_if != entity_tag(file)) return {};
    return parse_byte_range(request.header("Range"), file.size_bytes);
}

/// Writes the part; `first` are its first bytes, which were read before the head went out.
asio::awaitable<void> stream_part(std::shared_ptr<OutputFiles> outputs, WantedPart part, std::string first,
                                  std::shared_ptr<const void> place, std::shared_ptr<net::BodyWriter> writer)
{
    const std::shared_ptr<const void> held = std::move(place); // until the answer has ended
    std::int64_t at = part.range.first + static_cast<std::int64_t>(first.size());
    const Result<void> begun = co_await writer->write(std::move(first));
    if (!begun) co_return;
    while (at < part.range.first + part.range.size) {
        KeptRange range = range_of(part, at);
        Result<std::string> bytes = co_await outputs->kept->read(std::move(range), kPieceWait, part.turns);
        // The head has gone out: an answer that is cut short is all that can tell the client, which comes back for
        // the rest.
        if (!bytes) throw_exception_from_error(bytes.error(), BOOST_CURRENT_LOCATION);
        at += static_cast<std::int64_t>(bytes->size());
        const Result<void> sent = co_await writer->write(std::move(*bytes));
        if (!sent) co_return;
    }
}

/// Ends the answer of a client that takes it so slowly that its place is better given to others.
NoteTaken hold_to_pace(const std::string& token_id)
{
    return [token_id, pace = ReaderPace()](std::size_t bytes, std::chrono::steady_clock::duration took) mutable {
        pace.note(bytes, took);
        const double rate = pace.last().value_or(kMinBytesPerS);
        if (rate >= kMinBytesPerS) return Result<void>();
        return Result<void>(Error{Errc::kUnavailable, "an output of " + token_id + " is read at " + kib_per_s(rate) +
                                                          ", less than " + kib_per_s(kMinBytesPerS)});
    };
}

net::Response too_many_answers(bool is_of_token, const std::string& request_id)
{
    const Error error{Errc::kTooMany,
                      is_of_token ? "this token fetches " + std::to_string(kMaxOfToken) +
                                        " outputs already: come back for it when one of them has come"
                                  : "as many outputs are fetched here as may be at once: come back for it soon"};
    net::Response response = net::problem(error, request_id);
    response.headers["Retry-After"] = "5";
    return response;
}

asio::awaitable<net::Response> answer_part(std::shared_ptr<OutputFiles> outputs, WantedPart part,
                                           net::Response response, std::string request_id)
{
    const std::shared_ptr<const void> of_token = outputs->of_token.take(part.token_id);
    if (!of_token) co_return too_many_answers(true, request_id);
    const std::shared_ptr<const void> of_all = outputs->answers.take("");
    if (!of_all) co_return too_many_answers(false, request_id);
    std::shared_ptr<const void> place = std::make_shared<const std::array<std::shared_ptr<const void>, 2>>(
        std::array<std::shared_ptr<const void>, 2>{of_token, of_all});
    // Before the head: whether the center can give it is told by a status.
    KeptRange range = range_of(part, part.range.first);
    Result<std::string> first = co_await outputs->kept->read(std::move(range), kPieceWait, part.turns);
    if (!first) {
        Error error = first.error();
        error.detail += "; the output was stored at " + part.file.url;
        co_return net::problem(error, request_id);
    }
    response.headers["Content-Length"] = std::to_string(part.range.size);
    NoteTaken note = hold_to_pace(part.token_id);
    auto stream = [outputs, part = std::move(part), bytes = std::move(*first),
                   place = std::move(place)](std::shared_ptr<net::BodyWriter> writer) {
        return stream_part(outputs, part, bytes, place, std::move(writer));
    };
    response.stream = pace_stream(std::move(stream), std::move(note), outputs->now);
    co_return response;
}

asio::awaitable<net::Response> get_output(std::shared_ptr<OutputFiles> outputs, Call call)
{
    const std::string request_id = call.request.request_id;
    const std::optional<JobId> id = JobId::parse(call.request.path_params["id"]);
    if (!id) co_return net::problem(Error{Errc::kNotFound, "there is no such job"}, request_id);
    const Result<JobRecord> job = co_await outputs->jobs->get(*id, reader_of(call), JobContent::kOutput);
    if (!job) co_return net::problem(job.error(), request_id);
    Result<OutputFile> file = find_output_file(*job, query_text(call.request.query, "path"), outputs->most_bytes);
    if (!file) co_return net::problem(file.error(), request_id);
    const AskedRange asked = asked_range(call.request, *file);
    if (asked.kind == AskedRange::Kind::kNone) co_return not_satisfiable(*file, request_id);
    net::Response response;
    response.headers = file_headers(*file);
    WantedPart part{
        .file = std::move(*file), .range = asked.part, .turns = call.turns, .token_id = call.principal.token_id.value};
    if (asked.kind == AskedRange::Kind::kPart) {
        response.status = kPartialContent;
        response.headers["Content-Range"] = "bytes " + std::to_string(part.range.first) + "-" +
                                            std::to_string(part.range.first + part.range.size - 1) + "/" +
                                            std::to_string(part.file.size_bytes);
    } else {
        part.range = {.first = 0, .size = part.file.size_bytes};
    }
    if (part.range.size == 0) co_return response; // there is nothing to fetch
    co_return co_await answer_part(std::move(outputs), std::move(part), std::move(response), request_id);
}

} // namespace

void add_outputs_routes(ApiRouter& api, JobsService& jobs, KeptFiles& files, std::int64_t most_bytes, SteadyNow now)
{
    const auto outputs = std::make_shared<OutputFiles>(jobs, files, most_bytes, std::move(now));
    api.add_unlined(net::Method::kGet, "/jobs/{id}/output", Permission::kReadJobs,
                    [outputs](Call call) { return get_output(outputs, std::move(call)); });
}

} // namespace fathom::server
