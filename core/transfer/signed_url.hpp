#pragma once

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/transfer/object_store.hpp"

#include <chrono>
#include <string>
#include <string_view>

namespace fathom {

/// What a URL is signed for.
struct SignedRequest {
    std::string_view method; ///< "GET" or "PUT"
    std::string_view path;   ///< "/bucket/key", as it is, not encoded
    Timestamp at{};
    std::chrono::seconds lasts{}; ///< 1 s to kMaxSignedTime
};

/// S3 takes no signature that is good for longer.
inline constexpr std::chrono::seconds kMaxSignedTime{604'800};

/// A path for a URL: each byte but letters, digits and - . _ ~ / as %XX.
std::string encoded_path(std::string_view path);

/// The store's URL of an object by which whoever has it may do this one thing for a while: AWS Signature Version 4 in
/// the query, over the method, the host, the path and the time. It holds no secret but itself.
std::string signed_url(const ObjectStoreAccess& access, const SignedRequest& request);

} // namespace fathom
