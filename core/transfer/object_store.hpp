#pragma once

#include "core/base/result.hpp"

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>

namespace fathom {

/// A service with Amazon's S3 interface, and who we are there.
struct ObjectStoreAccess {
    std::string endpoint; ///< "https://s3.example.org", without a path; empty: there is none
    std::string region;
    std::string access_key;
    std::string secret_key; ///< never logged
    std::string ca_file;    ///< the authorities that may vouch for it; empty: the system's
};

/// One object to write.
struct ObjectUpload {
    std::string bucket{};
    std::string key{};
    std::string content_type{};
    std::FILE* content = nullptr; ///< at its beginning
    std::int64_t size_bytes{};
    std::string sha256{}; ///< of the content, lower-case hex
};

/// S3 takes no more in one request.
inline constexpr std::int64_t kMaxUploadBytes = 5'000'000'000;

/// Writes an object over TLS 1.2 or later (PUT, AWS Signature Version 4 over the content's SHA-256). An object is there
/// as a whole or not at all. Blocks; gives up after a minute without progress, or when `should_stop` says so.
/// @error kUnavailable  the service cannot be reached, or fails.
/// @error kInvalid      the service refuses it, or it is too large; the detail says why.
Result<void> put_object(const ObjectStoreAccess& access, const ObjectUpload& upload,
                        const std::function<bool()>& should_stop);

} // namespace fathom
