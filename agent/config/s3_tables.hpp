#pragma once

#include "core/base/json_reader.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace fathom::agent {

/// Which objects jobs of a project may name by s3:// URLs at this center: an `[[s3_access]]` table.
struct S3AccessRule {
    std::string project;
    std::vector<std::string> read;  ///< beginnings of URLs, "s3://bucket" or "s3://bucket/folder": for inputs
    std::vector<std::string> write; ///< likewise, for outputs

    bool operator==(const S3AccessRule&) const = default;
};

/// The object store that s3:// URLs of jobs are of: the table `[s3]`.
struct S3Config {
    std::string endpoint;           ///< "https://s3.example.org"; empty: there is none
    std::string region;             ///< as the store is configured
    std::filesystem::path key_file; ///< two lines, the access key and the secret key; nobody else may read it
    /// Also where jobs run as the agent does and nothing hides the file from them; without it, nothing is signed there.
    bool jobs_may_read_key{};
    std::vector<S3AccessRule> access; ///< projects without one have none

    bool operator==(const S3Config&) const = default;
};

/// The tables `[s3]` and `[[s3_access]]`; errors go to the reader's list.
S3Config read_s3(ObjectReader& reader, std::vector<FieldError>& errors);

/// Whether a URL lies at or below one of these, part of its path by part.
bool is_below_prefix(const std::string& url, const std::vector<std::string>& prefixes);

} // namespace fathom::agent
