#include "agent/executor/local/folder_removals.hpp"

#include "agent/executor/local/remove_tree.hpp"

#include <chrono>

namespace fathom::agent {
namespace {

constexpr std::chrono::milliseconds kRemovalTimeout{50};

} // namespace

FolderRemovals::FolderRemovals() : FolderRemovals(remove_tree) {}

FolderRemovals::FolderRemovals(Delete delete_folder) : delete_(std::move(delete_folder)) {}

Result<void> FolderRemovals::remove(const AttemptId& id, std::vector<std::filesystem::path> folders)
{
    std::unique_lock lock(mutex_);
    const auto [found, is_new] = removals_.try_emplace(id);
    Removal& removal = found->second;
    if (is_new) {
        removal.folders = std::move(folders);
        line_.push_back(id);
        if (!thread_.joinable()) thread_ = std::jthread([this](const std::stop_token& stopped) { work(stopped); });
        changed_.notify_all();
        // Not behind others: many would be waited for one after another.
        if (line_.size() == 1)
            changed_.wait_for(lock, kRemovalTimeout, [&removal] { return removal.outcome.has_value(); });
    }
    if (!removal.outcome) return Error{Errc::kConflict, "its files are being deleted"};
    Result<void> outcome = std::move(*removal.outcome);
    removals_.erase(found);
    return outcome;
}

void FolderRemovals::work(const std::stop_token& stopped)
{
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stopped, [this] { return !line_.empty(); })) {
        const AttemptId id = line_.front();
        const std::vector<std::filesystem::path> folders = removals_.at(id).folders;
        lock.unlock();
        Result<void> outcome;
        for (auto folder = folders.begin(); outcome && folder != folders.end(); ++folder)
            outcome = delete_(*folder, stopped);
        lock.lock();
        line_.pop_front();
        removals_.at(id).outcome = std::move(outcome);
        changed_.notify_all();
        if (stopped.stop_requested()) return;
    }
}

} // namespace fathom::agent
