#pragma once

#include "core/base/id.hpp"
#include "core/base/result.hpp"
#include "server/jobs/job_record.hpp"

#include <string>
#include <string_view>

namespace fathom::server {

/// An output that was stored, and whose center may keep a copy.
struct OutputFile {
    std::string path;
    std::string url; ///< where it was stored; without its query, which may hold a secret
    std::int64_t size_bytes{};
    std::string sha256;
    CenterId center_id;
    std::string center; ///< its name
};

/// Of a job as its reader sees it.
/// @param most_bytes  that may pass through the metascheduler
/// @error kNotFound  the job declares no such output, or has not stored it.
/// @error kTooLarge  it has more bytes; the detail says where it lies, and how it is had from there.
Result<OutputFile> find_output_file(const JobRecord& job, std::string_view path, std::int64_t most_bytes);

} // namespace fathom::server
