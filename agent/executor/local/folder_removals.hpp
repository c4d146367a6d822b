#pragma once

#include "core/base/id.hpp"
#include "core/base/result.hpp"

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

namespace fathom::agent {

/// Deletes folders on a thread of its own: one job may leave so many files that this takes minutes, on a file system
/// of a network above all, and whoever asks has the jobs of a center to look after. One after another. The thread
/// begins with the first folder and ends with this, whatever is left then.
class FolderRemovals {
  public:
    /// Deletes one folder, unless it is to stop before it is done.
    using Delete = std::function<Result<void>(const std::filesystem::path&, const std::stop_token&)>;

    FolderRemovals();
    /// For tests.
    explicit FolderRemovals(Delete delete_folder);

    /// Deletes an attempt's folders, in this order; what cannot be deleted keeps those behind it. Waits a moment for
    /// few files.
    /// @error kConflict  it is not done: ask again soon. What else went wrong is told once; who asks then has it tried
    ///                   anew.
    Result<void> remove(const AttemptId& id, std::vector<std::filesystem::path> folders);

  private:
    struct Removal {
        std::vector<std::filesystem::path> folders;
        std::optional<Result<void>> outcome; ///< empty until it is done
    };

    void work(const std::stop_token& stopped);

    Delete delete_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::map<AttemptId, Removal> removals_; ///< until their outcome was told
    std::deque<AttemptId> line_;            ///< the first is at work
    std::jthread thread_;                   ///< last, so that it ends first
};

} // namespace fathom::agent
