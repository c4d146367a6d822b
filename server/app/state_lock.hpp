#pragma once

#include "core/base/result.hpp"

#include <filesystem>

namespace fathom::server {

/// The state folder, made for its owner alone when missing, and held for this process alone by a lock on its file
/// fathomd.lock. The kernel drops the lock when the process
/// and those that it forked have ended, however they end.
class StateLock {
  public:
    /// Waits up to two seconds for one that is ending.
    /// @error kConflict     another fathomd uses the folder; the detail has its process id.
    /// @error kUnavailable  the folder cannot be made or written; the detail says why.
    static Result<StateLock> take(const std::filesystem::path& state_dir);

    ~StateLock();
    StateLock(StateLock&& other) noexcept;
    StateLock& operator=(StateLock&&) = delete;
    StateLock(const StateLock&) = delete;
    StateLock& operator=(const StateLock&) = delete;

  private:
    explicit StateLock(int file) : file_(file) {}
    int file_;
};

} // namespace fathom::server
