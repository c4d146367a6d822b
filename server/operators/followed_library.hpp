#pragma once

#include "core/model/operator_package.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

/// The library of another fathomd, as its REST interface tells of it.
namespace fathom::server {

/// Where a network's library is kept, if not in its own database alone.
struct LibraryPlace {
    std::string url;                 ///< https://HOST[:PORT] of a fathomd; empty: this network's library is its own
    std::string token;               ///< an API token there whose role may read uploads; a secret
    std::string authority_pem;       ///< who may vouch for its certificate; empty: the system's authorities
    std::chrono::seconds period{60}; ///< between two looks

    bool is_on() const { return !url.empty(); }
};

/// Asks a fathomd for what stands behind a target, "/api/v1/operators?page_size=20".
struct LibrarySite {
    /// Blocks. Not thread-safe.
    /// @error kUnavailable, kDeadline  it is not reached, or refuses; the detail says why.
    /// @error kInvalid                 its answer is not JSON.
    /// @error kTooLarge                its answer is.
    std::function<Result<Json>(const std::string& target)> ask;
    /// Ends what is being asked, and all that will be. Thread-safe.
    std::function<void()> interrupt;
};

/// @error kInvalid  the place has no such address or authorities.
Result<LibrarySite> library_over_https(const LibraryPlace& place);

/// One version of an operator there.
struct FollowedVersion {
    OperatorManifest manifest;
    std::string origin; ///< "built_in", "expert", or "uploaded"
    bool is_withdrawn{};
    std::string object_sha256; ///< of an uploaded version, as it is told; else empty
};

struct FollowedLibrary {
    std::vector<FollowedVersion> versions;
    std::vector<std::string> unreadable; ///< of what this program does not understand, a sentence each
};

/// All versions of all operators. Blocks.
/// @error kInvalid, kTooLarge  the answers are no library, or one without end; and as LibrarySite::ask.
Result<FollowedLibrary> read_followed_library(const LibrarySite& site);

/// The signed code of an uploaded version. Blocks.
/// @error kInvalid  it is not the package of this version; and as LibrarySite::ask.
Result<OperatorPackage> read_followed_package(const LibrarySite& site, const OperatorManifest& manifest);

} // namespace fathom::server
