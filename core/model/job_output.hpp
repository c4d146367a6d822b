#pragma once

#include "core/base/json_reader.hpp"
#include "core/model/data_location.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace fathom {

/// A file of a job's working folder that is stored elsewhere once its command has succeeded (job.yaml `outputs`).
struct JobOutput {
    std::string path; ///< relative to the working folder; no two outputs of a job have the same
    std::string url;  ///< https, http or s3, to which it is sent by PUT; or file. Without a user's name

    bool operator==(const JobOutput&) const = default;
};

/// An output of an attempt that stands where it was to be stored.
struct StoredOutput {
    std::string path; ///< as in JobOutput
    std::int64_t size_bytes{};
    std::string sha256; ///< 64 lower-case hex digits

    bool operator==(const StoredOutput&) const = default;
};

/// The longest wall limit of a job with an s3:// output: the center signs for it when the job starts, for an hour
/// beyond the limit, and no signature is good for more than 7 days.
inline constexpr std::int64_t kMaxWallLimitOfSigned_s = 7 * 86400 - 3600;

/// Whether it goes to an object store by a signature of its center's.
inline bool is_signed_by_center(const JobOutput& output)
{
    return is_object_url(output.url);
}

/// Reads the field `outputs` of a job; missing is empty.
std::vector<JobOutput> parse_job_outputs(ObjectReader& reader, std::vector<FieldError>& errors);
Json to_json(const std::vector<JobOutput>& outputs);

/// Reads the field `outputs` of an attempt's end; missing is empty.
std::vector<StoredOutput> parse_stored_outputs(ObjectReader& reader, std::vector<FieldError>& errors);
Json to_json(const std::vector<StoredOutput>& outputs);

} // namespace fathom
