#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fathom {

inline constexpr std::size_t kMaxDataUrlBytes = 4096;
inline constexpr std::size_t kMaxDataPathBytes = 1024;

/// Names in the working folder that are the agent's own.
inline constexpr std::string_view kOwnFilePrefix = ".fathom-";

/// What URLs of objects in a store with Amazon's S3 interface begin with: s3://bucket/key.
inline constexpr std::string_view kObjectScheme = "s3://";
inline bool is_object_url(std::string_view url)
{
    return url.starts_with(kObjectScheme);
}

/// What is wrong with the URL of data of a job (https, http, s3 or file, without a user's name); empty: nothing.
std::string problem_of_url(std::string_view url);

/// What is wrong with a path below a job's working folder, not empty; empty: nothing.
std::string problem_of_path(std::string_view path);

/// A URL for people and logs: without its query and fragment, which may hold a secret, and without a user's name.
std::string shown_url(std::string_view url);

} // namespace fathom
