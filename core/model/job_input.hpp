#pragma once

#include "core/base/id.hpp"
#include "core/base/json_reader.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

/// A file that is put into a job's working folder before its command starts (job.yaml `inputs`).
struct JobInput {
    /// https, http, s3 or file, without a user's name. Of an output of a job: from where it is fetched where no copy is
    /// kept; empty until the metascheduler has looked where it was stored.
    std::string url;
    std::string path;                       ///< relative to the working folder
    std::string sha256;                     ///< 64 lower-case hex digits; empty: not checked
    std::optional<std::int64_t> size_bytes; ///< empty: not checked
    std::string from{};                     ///< "job:ID/path": the output of an earlier job that it is; empty: of none
    /// Ids of the centers that are known to keep a copy of that output, each once.
    std::vector<std::string> kept_at{};

    bool operator==(const JobInput&) const = default;
};

/// An output of a job, as an input names it.
struct OutputName {
    JobId job;
    std::string path; ///< as in JobOutput

    bool operator==(const OutputName&) const = default;
};

/// "job:ID/path", the path being that of an output as the job declared it. Empty: it is no such name.
std::optional<OutputName> parse_output_name(std::string_view text);

/// Where an input comes from, for people and logs: the output of a job, or its URL as shown_url() has it.
std::string shown_source(const JobInput& input);

/// Reads the field `inputs`; missing is empty. A URL that names an output of a job becomes JobInput::from.
std::vector<JobInput> parse_job_inputs(ObjectReader& reader, std::vector<FieldError>& errors);
Json to_json(const std::vector<JobInput>& inputs);

} // namespace fathom
