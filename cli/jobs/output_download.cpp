#include "cli/jobs/output_download.hpp"

#include "cli/client/json_view.hpp"
#include "cli/text/format_units.hpp"
#include "core/model/data_location.hpp"
#include "core/transfer/download.hpp"

#include <chrono>
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

/// Where it can be read, what it is to hold, and where it goes.
Result<Download> plan_download(const Json& job, const OutputDownload& wanted)
{
    const Json* const output = find_path(items_of(member(job, "spec"), "outputs"), wanted.path);
    if (output == nullptr)
        return Error{Errc::kNotFound, "the job has no output " + wanted.path + "; `fathom job outputs " + wanted.job +
                                          "` lists those it has"};
    const Json* const content = find_path(items_of(member(job, "attempt"), "outputs"), wanted.path);
    if (content == nullptr)
        return Error{Errc::kNotFound, wanted.path + " is not stored: the job is " + text_of(job, "state")};
    const std::string url = text_of(*output, "url");
    if (!url.starts_with("https://") && !url.starts_with("http://"))
        return Error{Errc::kInvalid, "it was stored at " + shown_url(url) +
                                         ", which only its center reaches; a job there takes it by --input job:" +
                                         wanted.job + "/" + wanted.path + "=PATH, and can store it at an https URL"};
    Download download{.url = url,
                      .size_bytes = static_cast<std::int64_t>(number_of(*content, "size_bytes").value_or(0)),
                      .sha256 = text_of(*content, "sha256"),
                      .file = wanted.file};
    if (download.file.empty()) download.file = std::filesystem::path(wanted.path).filename();
    return download;
}

/// A refusal is likely one of a URL that was signed for storing alone.
Error explain(const Error& error, const Download& download)
{
    const bool is_refused = error.detail.ends_with(" 401") || error.detail.ends_with(" 403");
    return {error.code,
            shown_url(download.url) + ": " + error.detail +
                (is_refused ? "; a URL that was signed for PUT cannot be read: fetch it by one that can" : "")};
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
    if (const Result<void> done = download(*plan, wanted.tries, tell); !done) return explain(done.error(), *plan);
    return Json{{"path", wanted.path},
                {"file", plan->file.string()},
                {"size_bytes", plan->size_bytes},
                {"sha256", plan->sha256}};
}

} // namespace fathom::cli
