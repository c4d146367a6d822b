#pragma once

#include "core/base/json_reader.hpp"

#include <optional>
#include <string>
#include <vector>

namespace fathom {

/// A file that is put into a job's working folder before its command starts (job.yaml `inputs`).
struct JobInput {
    std::string url;                        ///< https, http or file; without a user's name
    std::string path;                       ///< relative to the working folder
    std::string sha256;                     ///< 64 lower-case hex digits; empty: not checked
    std::optional<std::int64_t> size_bytes; ///< empty: not checked

    bool operator==(const JobInput&) const = default;
};

/// Reads the field `inputs`; missing is empty.
std::vector<JobInput> parse_job_inputs(ObjectReader& reader, std::vector<FieldError>& errors);
Json to_json(const std::vector<JobInput>& inputs);

} // namespace fathom
