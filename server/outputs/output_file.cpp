#include "server/outputs/output_file.hpp"

#include "core/model/data_location.hpp"
#include "core/model/job.hpp"
#include "core/model/job_output.hpp"

namespace fathom::server {
namespace {

/// The list in the JSON that we have written ourselves; empty where there is none.
Json list_in(const std::string& text, const char* field)
{
    const Json json = Json::parse(text, nullptr, false);
    if (field == nullptr) return json.is_array() ? json : Json::array();
    const auto found = json.is_object() ? json.find(field) : json.end();
    return json.is_object() && found != json.end() && found->is_array() ? *found : Json::array();
}

/// The item with that path; null where there is none.
Json item_of(const Json& items, std::string_view path)
{
    for (const Json& item : items) {
        if (item.value("path", "") == path) return item;
    }
    return nullptr;
}

Error too_large(const OutputFile& file, const JobRecord& job, std::int64_t most_bytes)
{
    constexpr std::int64_t kMib = 1 << 20U;
    const std::string name = "job:" + job.id.value + "/" + file.path;
    return {Errc::kTooLarge, "it has " + std::to_string(file.size_bytes) + " bytes, and no output of more than " +
                                 std::to_string(most_bytes / kMib) +
                                 " MiB passes through fathomd (max_fetched_output_mib): it was stored at " + file.url +
                                 " by center " + file.center + "; a job takes it as its input " + name +
                                 ", and can store it at another https or s3 URL"};
}

} // namespace

Result<OutputFile> find_output_file(const JobRecord& job, std::string_view path, std::int64_t most_bytes)
{
    const Json declared = item_of(list_in(job.spec, "outputs"), path);
    if (declared.is_null()) return Error{Errc::kNotFound, "the job has no such output"};
    // What a part of a job has stored for the next one is not the job's, also where its path is the same.
    const bool is_there = job.attempt && (job.steps.empty() || job.state == to_string(JobState::kSucceeded));
    const Json stored = is_there ? item_of(list_in(job.attempt->outputs, nullptr), path) : Json(nullptr);
    if (stored.is_null())
        return Error{Errc::kNotFound, "the output is not stored: the job is " + job.state +
                                          (job.end_reason.empty() ? "" : ": " + job.end_reason)};
    OutputFile file{.path = std::string(path),
                    .url = shown_url(declared.value("url", "")),
                    .size_bytes = stored.value("size_bytes", std::int64_t{0}),
                    .sha256 = stored.value("sha256", ""),
                    .center_id = {job.attempt->center_id},
                    .center = job.attempt->center};
    if (file.size_bytes > most_bytes) return too_large(file, job, most_bytes);
    return file;
}

} // namespace fathom::server
