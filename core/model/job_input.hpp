#pragma once

#include "core/base/json_reader.hpp"

#include <optional>
#include <string>
#include <string_view>
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

/// Names that jobs' inputs and files may not begin with: the agent's own, in the working folder.
inline constexpr std::string_view kOwnFilePrefix = ".fathom-";

/// Reads the field `inputs`; missing is empty.
std::vector<JobInput> parse_job_inputs(ObjectReader& reader, std::vector<FieldError>& errors);
Json to_json(const std::vector<JobInput>& inputs);

/// A URL for people and logs: without its query and fragment, which may hold a secret, and without a user's name.
std::string shown_url(std::string_view url);

} // namespace fathom
