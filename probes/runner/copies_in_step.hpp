#pragma once

#include "core/base/result.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace fathom::probes {

/// Lets copies of a probe, each a process of its own, go on together from step to step, through memory that they share.
/// A copy that has ended is waited for no more; who waits for one that hangs is ended by its own time limit.
/// Not thread-safe.
class CopiesInStep {
  public:
    /// How long to sleep between looks at the others: before a sample, which lasts twenty times as long or more, and
    /// where that takes seconds.
    static constexpr auto kShortPause = std::chrono::microseconds(50);
    static constexpr auto kLongPause = std::chrono::milliseconds(2);

    /// For who starts the copies; takes part in no step itself.
    /// @param count  of copies, at least 1.
    /// @error kUnavailable  the system refuses the memory.
    static Result<CopiesInStep> make(int count);
    /// For a copy.
    /// @param place  what place_of() gave its starter.
    /// @error kInvalid  that is none.
    static Result<CopiesInStep> join(const std::string& place);

    /// "1:4:7": which copy, of how many, and the descriptor of the memory, which processes inherit.
    std::string place_of(int copy) const;
    /// For who starts the copies: this one has ended.
    void note_end(int copy);

    int count() const { return count_; }
    bool is_first() const { return own_ == 0; }
    /// Until all copies that have not ended wait for the same time as often as this one.
    void wait(std::chrono::microseconds pause);
    /// Whether the first copy waits already for the time after that for which this one waited last, or has ended.
    bool is_first_waiting() const;
    /// What the first copy says, in all of them; all wait for it. Of the others `says` is not looked at.
    bool agree(bool says);

  private:
    struct Shared;
    struct Unmap {
        void operator()(Shared* shared) const;
    };
    CopiesInStep(int descriptor, int count, int own, Shared* shared)
        : descriptor_(descriptor), count_(count), own_(own), shared_(shared)
    {
    }
    static Shared* map(int descriptor);

    int descriptor_; ///< open as long as the process: one per process, inherited by copies
    int count_;
    int own_; ///< which copy; -1: none
    std::int64_t step_ = 0;
    std::unique_ptr<Shared, Unmap> shared_;
};

} // namespace fathom::probes
