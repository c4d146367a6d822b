#include "server/outputs/outputs_api.hpp"

#include "core/base/hex.hpp"
#include "core/base/secret.hpp"
#include "server/api/caller.hpp"
#include "server/centers/kept_files.hpp"
#include "server/outputs/byte_range.hpp"
#include "server/outputs/output_file.hpp"

#include <algorithm>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

/// A center that is connected answers within milliseconds; one that is busy with its disk takes longer.
constexpr std::chrono::seconds kPieceWait = 15s;
/// Answers in work at once in one fathomd, each with a range in memory.
constexpr std::size_t kMaxAnswers = 32;
constexpr int kPartialContent = 206;
constexpr int kRangeNotSatisfiable = 416;

/// What the answers have in common.
struct OutputFiles {
    OutputFiles(JobsService& service, Database& database, std::int64_t most)
        : jobs(&service), kept(database), most_bytes(most)
    {
    }

    JobsService* const jobs;
    KeptFiles kept;
    const std::int64_t most_bytes;
    TokenPlaces answers{kMaxAnswers}; ///< of all tokens together
};

/// What of which file an answer holds.
struct WantedPart {
    OutputFile file;
    ByteRange range;
    TokenTurns turns; ///< of the client, one for each range that is read
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
        std::shared_ptr<const void> turn = co_await part.turns.take();
        KeptRange range = range_of(part, at);
        Result<std::string> bytes = co_await outputs->kept.read(std::move(range), kPieceWait);
        turn.reset();
        // The head has gone out: an answer that is cut short is all that can tell the client, which comes back for
        // the rest.
        if (!bytes) throw_exception_from_error(bytes.error(), BOOST_CURRENT_LOCATION);
        at += static_cast<std::int64_t>(bytes->size());
        const Result<void> sent = co_await writer->write(std::move(*bytes));
        if (!sent) co_return;
    }
}

net::Response too_many_answers(const std::string& request_id)
{
    net::Response response = net::problem(
        Error{Errc::kTooMany, "as many outputs are fetched here as may be at once: come back for it soon"}, request_id);
    response.headers["Retry-After"] = "5";
    return response;
}

asio::awaitable<net::Response> answer_part(std::shared_ptr<OutputFiles> outputs, WantedPart part,
                                           net::Response response, std::string request_id)
{
    std::shared_ptr<const void> place = outputs->answers.take("");
    if (!place) co_return too_many_answers(request_id);
    // Before the head: whether the center can give it is told by a status.
    KeptRange range = range_of(part, part.range.first);
    Result<std::string> first = co_await outputs->kept.read(std::move(range), kPieceWait);
    if (!first) {
        Error error = first.error();
        error.detail += "; the output was stored at " + part.file.url;
        co_return net::problem(error, request_id);
    }
    response.headers["Content-Length"] = std::to_string(part.range.size);
    response.stream = [outputs, part = std::move(part), bytes = std::move(*first),
                       place = std::move(place)](std::shared_ptr<net::BodyWriter> writer) {
        return stream_part(outputs, part, bytes, place, std::move(writer));
    };
    co_return response;
}

asio::awaitable<net::Response> get_output(std::shared_ptr<OutputFiles> outputs, Call call)
{
    const std::string request_id = call.request.request_id;
    const std::optional<JobId> id = JobId::parse(call.request.path_params["id"]);
    if (!id) co_return net::problem(Error{Errc::kNotFound, "there is no such job"}, request_id);
    const Result<JobRecord> job = co_await outputs->jobs->get(*id, reader_of(call), JobPart::kOutput);
    if (!job) co_return net::problem(job.error(), request_id);
    Result<OutputFile> file = find_output_file(*job, query_text(call.request.query, "path"), outputs->most_bytes);
    if (!file) co_return net::problem(file.error(), request_id);
    const AskedRange asked = asked_range(call.request, *file);
    if (asked.kind == AskedRange::Kind::kNone) co_return not_satisfiable(*file, request_id);
    net::Response response;
    response.headers = file_headers(*file);
    WantedPart part{.file = std::move(*file), .range = asked.part, .turns = call.turns};
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

void add_outputs_routes(ApiRouter& api, JobsService& jobs, Database& database, std::int64_t most_bytes)
{
    const auto outputs = std::make_shared<OutputFiles>(jobs, database, most_bytes);
    api.add_unlined(net::Method::kGet, "/jobs/{id}/output", Permission::kReadJobs,
                    [outputs](Call call) { return get_output(outputs, std::move(call)); });
}

} // namespace fathom::server
