#pragma once

#include "agent/executor/kept_file_read.hpp"
#include "agent/executor/local/input_cache_room.hpp"
#include "core/base/open_file.hpp"
#include "core/base/result.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>

namespace fathom::agent {

/// Where a center keeps inputs that were fetched.
struct InputCachePlace {
    std::filesystem::path folder{}; ///< the agent's own; made when it is needed first
    std::int64_t limit_bytes{};     ///< of all files together; 0: none are kept
    /// Jobs open files there by their names, as users of their own: they may read them, and go through the folder, but
    /// not list it. Else only the agent may.
    bool jobs_open_files{};
};

/// How a file is kept.
struct KeepManner {
    std::optional<unsigned> bringer{}; ///< user id of whoever's job brought it: room is shared between them
    std::int64_t most_bytes{};         ///< that are read of all files of one job together; 0: as many as there are
    std::int64_t most_bytes_per_s{};   ///< that are read of it; 0: as fast as it goes
    bool is_flushed{};                 ///< it is on disk before it has its name: where others look at the folder, too
    std::chrono::milliseconds most_wait{}; ///< for others that keep something; 0: until they have done
    std::stop_token stop{};                ///< then it is not kept
};

/// Inputs that jobs of a center have fetched, each a file with its SHA-256 as its name, which only the agent may open,
/// or jobs may that know that name. What is found is to be
/// checked by whoever uses it: a job that runs as the agent's own user could change it. Several processes may use one
/// folder at a time. Blocks.
///
///     SHA-256      a file; complete, with that content when it got this name
///     own/         nobody else's to enter
///     own/lock     held by the one who changes which files there are
///     own/part     of that one: a file before it has its name
///     own/SHA-256  empty; its owner is who brought that file
class InputCache {
  public:
    /// @error kUnavailable  its folder cannot be made, or is somebody else's.
    static Result<InputCache> open(const InputCachePlace& place);

    /// Opens a file for reading, which counts as its last use from now on; none is open where there is none.
    /// @param sha256  64 lower-case hex digits, here and below
    OpenFile find(const std::string& sha256) const;

    /// Keeps a copy of a file, where there is none yet, and gives up others for it (choose_leaving()).
    /// @param file  open for reading; whoever owns it may change it meanwhile
    /// @error kInvalid      it is no plain file, or has other content.
    /// @error kTooLarge     it takes more than all files may, than others would have to give up for it, or than the
    ///                      disk can spare; or it is mostly holes, which cost a job nothing, and its copy has none.
    /// @error kUnavailable  it cannot be read, or its copy not be written, or others took too long, or it was to stop.
    Result<void> keep(int file, const std::string& sha256, const KeepManner& manner = {}) const;

    /// At most `max_bytes` of a file from `offset`, fewer where it ends. It counts as a use, as find() does.
    /// @error kNotFound     there is none.
    /// @error kUnavailable  it cannot be read.
    Result<std::string> read(const std::string& sha256, std::int64_t offset, std::size_t max_bytes) const;

    /// Gives up a file that has other content than its name says.
    /// @return false: it has that content
    bool check(const std::string& sha256, const KeepManner& manner = {}) const;

  private:
    InputCache(OpenFile folder, OpenFile own, InputCachePlace place)
        : folder_(std::move(folder)), own_(std::move(own)), place_(std::move(place))
    {
    }

    /// Held as long as it is open: by one process at a time that changes which files there are.
    OpenFile lock(const KeepManner& manner) const;
    Result<void> copy(int file, std::int64_t size_bytes, const std::string& sha256, const KeepManner& manner) const;
    std::vector<KeptInput> list_kept() const;
    Result<void> note_bringer(const std::string& sha256, const std::optional<unsigned>& bringer) const;
    std::optional<unsigned> bringer_of(const std::string& sha256) const;
    bool give_up(const std::string& sha256) const;

    OpenFile folder_;
    OpenFile own_;
    InputCachePlace place_;
};

/// As InputCache::read(); no file is there where none are kept. Blocks.
Result<std::string> read_kept_file(const InputCachePlace& place, const std::string& sha256, std::int64_t offset,
                                   std::size_t max_bytes);
/// The same as a function.
KeptFileRead kept_file_read_of(InputCachePlace place);

} // namespace fathom::agent
