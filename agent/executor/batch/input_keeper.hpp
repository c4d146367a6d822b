#pragma once

#include "agent/executor/local/cached_inputs.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace fathom::agent {

/// Inputs, and without a SHA-256 the outputs that are declared, as the agent notes them beside a job, for itself: the
/// job's own files are the job's to change.
std::string encode(const std::vector<KeepableInput>& inputs);
/// @error kInvalid  not what encode() wrote.
Result<std::vector<KeepableInput>> decode_keepable_inputs(const std::string& text);

/// Keeps inputs and outputs of jobs that have ended for later jobs, on a thread of its own: a large one takes minutes.
/// Reads at most 256 MiB a second, since the file system is others', too. Where many jobs with much to keep end at
/// once, those of the newest are not kept. The thread begins with the first job and ends with this, whatever is left
/// then. Thread-safe.
class InputKeeper {
  public:
    /// @param place  with the limit 0 nothing is kept
    explicit InputKeeper(InputCachePlace place) : place_(std::move(place)) {}

    struct EndedJob {
        AttemptId id;
        std::filesystem::path note; ///< its inputs and outputs, as encode() wrote them; without it none is kept
        std::filesystem::path work; ///< its working folder
        unsigned user{};            ///< who it ran as
        std::vector<StoredOutput> outputs{}; ///< that were stored, as the job says
    };
    void keep(EndedJob job);
    /// Whether the working folder of this attempt is still needed.
    bool is_at(const AttemptId& id);

  private:
    void work(const std::stop_token& stopped);
    void keep_files(const EndedJob& job, const std::stop_token& stopped);

    InputCachePlace place_;
    bool is_told_ = false; ///< that the cache cannot be used; of the thread
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::deque<EndedJob> line_; ///< the first is at work
    std::jthread thread_;       ///< last, so that it ends first
};

} // namespace fathom::agent
