#pragma once

#include "agent/executor/executor.hpp"

#include <filesystem>
#include <map>

namespace fathom::agent {

/// Tells in whose folders a supervisor has written, by inotify, so that nobody has to look at all of them. Where the
/// kernel has no more watches, changes go unnoticed and looking now and then must do. Not thread-safe.
class FolderWatch {
  public:
    FolderWatch();
    ~FolderWatch();
    FolderWatch(const FolderWatch&) = delete;
    FolderWatch& operator=(const FolderWatch&) = delete;

    /// Readable when read() has something to tell; -1 when there is no inotify.
    int descriptor() const { return inotify_; }

    /// The folder of an attempt; a folder that is watched already is not watched twice.
    void add(const AttemptId& attempt, const std::filesystem::path& folder);
    void remove(const AttemptId& attempt);

    /// What has changed since the last call. Does not block.
    ExecutorChanges read();

  private:
    int inotify_;
    std::map<int, AttemptId> attempts_; ///< by watch
    std::map<AttemptId, int> watches_;
};

} // namespace fathom::agent
