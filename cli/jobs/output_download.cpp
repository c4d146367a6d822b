#include "cli/jobs/output_download.hpp"

#include "cli/client/json_view.hpp"
#include "cli/text/format_units.hpp"
#include "core/model/data_location.hpp"
#include "core/transfer/download.hpp"

#include <chrono>
#include <functional>
#include <ostream>

namespace fathom::cli {
namespace {

/// Between two lines that say how far a download is.
constexpr std::chrono::seconds kProgressInterval{5};

const Json* find_path(const Json& items, const std::string& path)
{
    for (const Json& item : items) {
        if (text_of(item, "path") == path) return &item;
    }
    return nullptr;
}

/// What it is to hold, where it goes, and where it was stored.
Result<Download> plan_download(const Json& job, const OutputDownload& wanted)
{
    const Json* const output = find_path(items_of(member(job, "spec"), "outputs"), wanted.path);
    if (output == nullptr)
        return Error{Errc::kNotFound, "the job has no output " + wanted.path + "; `fathom job outputs " + wanted.job +
                                          "` lists those it has"};
    const Json* const content = find_path(items_of(member(job, "attempt"), "outputs"), wanted.path);
    if (content == nullptr)
        return Error{Errc::kNotFound, wanted.path + " is not stored: the job is " + text_of(job, "state")};
    Download download{.url = text_of(*output, "url"),
                      .size_bytes = static_cast<std::int64_t>(number_of(*content, "size_bytes").value_or(0)),
                      .sha256 = text_of(*content, "sha256"),
                      .file = wanted.file};
    if (download.file.empty()) download.file = std::filesystem::path(wanted.path).filename();
    return download;
}

bool is_read_by_url(const Download& download)
{
    return download.url.starts_with("https://") || download.url.starts_with("http://");
}

/// Most likely of a URL that was signed for storing alone, or that was good for a time.
bool is_refused(const Error& error)
{
    return error.detail.ends_with(" 401") || error.detail.ends_with(" 403");
}

using OnBytes = std::function<void(std::int64_t)>;

/// From the copy that its center keeps, through the server.
Result<void> download_copy(Session& session, const OutputDownload& wanted, const Download& plan,
                           const OnBytes& on_bytes)
{
    const auto fetch = [&](PartFile& part) -> Result<void> {
        net::Headers headers;
        if (part.bytes() > 0) headers["Range"] = "bytes=" + std::to_string(part.bytes()) + "-";
        const Result<void> streamed = session.stream("/jobs/" + path_segment(wanted.job) + "/output",
                                                     {{"path", wanted.path}}, headers, [&](std::string_view data) {
                                                         const bool is_added = part.add(data);
                                                         if (is_added) on_bytes(part.bytes());
                                                         return is_added;
                                                     });
        if (part.problem()) return *part.problem();
        return streamed;
    };
    return download_by(plan, wanted.tries, fetch);
}

/// From where it was stored, or where that cannot be read from here, from the copy.
/// @return where it came from
Result<std::string> fetch(Session& session, const OutputDownload& wanted, const Download& plan, const OnBytes& on_bytes)
{
    std::string before;
    if (is_read_by_url(plan)) {
        const Result<void> done = download(plan, wanted.tries, on_bytes);
        if (done) return shown_url(plan.url);
        if (!is_refused(done.error()))
            return Error{done.error().code, shown_url(plan.url) + ": " + done.error().detail};
        before = shown_url(plan.url) + ": " + done.error().detail +
                 "; a URL that was signed for PUT cannot be read; nor can the copy of its center: ";
    }
    const Result<void> copied = download_copy(session, wanted, plan, on_bytes);
    if (!copied) return Error{copied.error().code, before + copied.error().detail};
    return std::string("the copy of its center");
}

} // namespace

Result<Json> download_output(Session& session, const OutputDownload& wanted)
{
    const Result<Json> job = session.get("/jobs/" + path_segment(wanted.job));
    if (!job) return job.error();
    const Result<Download> plan = plan_download(*job, wanted);
    if (!plan) return plan.error();
    auto told = std::chrono::steady_clock::now();
    const auto tell = [&](std::int64_t bytes) {
        const auto now = std::chrono::steady_clock::now();
        if (now - told < kProgressInterval) return;
        told = now;
        *session.console().err << wanted.path << ": " << format_bytes(static_cast<double>(bytes)) << " of "
                               << format_bytes(static_cast<double>(plan->size_bytes)) << std::endl;
    };
    const Result<std::string> from = fetch(session, wanted, *plan, tell);
    if (!from) return from.error();
    return Json{{"path", wanted.path},
                {"file", plan->file.string()},
                {"size_bytes", plan->size_bytes},
                {"sha256", plan->sha256},
                {"from", *from}};
}

} // namespace fathom::cli
