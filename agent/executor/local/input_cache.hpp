#pragma once

#include "core/base/open_file.hpp"
#include "core/base/result.hpp"

#include <cstdint>
#include <filesystem>
#include <string>

namespace fathom::agent {

/// Where a center keeps inputs that were fetched.
struct InputCachePlace {
    std::filesystem::path folder{}; ///< the agent's own; made when it is needed first
    std::int64_t limit_bytes{};     ///< of all files together; 0: none are kept
};

/// Inputs that jobs of a center have fetched, each a file with its SHA-256 as its name, which only the agent may open.
/// A job that names a SHA-256 gets that file open for reading, and can name no other. What is found is to be
/// checked by whoever uses it: a job that runs as the agent's own user could change it. Several processes may use one
/// folder at a time. Blocks.
class InputCache {
  public:
    /// @error kUnavailable  its folder cannot be made, or is somebody else's.
    static Result<InputCache> open(const InputCachePlace& place);

    /// Opens a file for reading, which counts as its last use from now on; none is open where there is none.
    /// @param sha256  64 lower-case hex digits, here and below
    OpenFile find(const std::string& sha256) const;

    /// Keeps a copy of a file, where there is none yet, and gives up those for it that were not used for longest.
    /// @param file  open for reading
    /// @error kInvalid      it is no plain file, or has other content.
    /// @error kTooLarge     it takes more than all files may, or than the disk can spare.
    /// @error kUnavailable  it cannot be read, or its copy not be written.
    Result<void> keep(int file, const std::string& sha256) const;

    /// Gives up a file that has other content than its name says.
    void check(const std::string& sha256) const;

  private:
    InputCache(OpenFile folder, const InputCachePlace& place) : folder_(std::move(folder)), place_(place) {}

    /// Held as long as it is open: by one process at a time that changes which files there are.
    OpenFile lock() const;
    Result<void> copy(int file, std::int64_t size_bytes, const std::string& sha256) const;
    void make_room(std::int64_t size_bytes) const;

    OpenFile folder_;
    InputCachePlace place_;
};

} // namespace fathom::agent
