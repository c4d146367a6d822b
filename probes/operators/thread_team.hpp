#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace fathom::probes {

/// A part of 0..size-1.
struct Part {
    std::size_t begin{};
    std::size_t end{};
};

/// Threads for the operators that are our own code; libraries bring theirs.
///
/// The caller is the first member; the others wait between calls, spinning briefly and then asleep,
/// so that they do not take a core from the operator that is measured next.
/// Not thread-safe: one caller.
class ThreadTeam {
  public:
    explicit ThreadTeam(int threads);
    ~ThreadTeam();
    ThreadTeam(const ThreadTeam&) = delete;
    ThreadTeam& operator=(const ThreadTeam&) = delete;

    /// Runs `work` on every part of 0..size-1, one part a thread, and waits for all. The same thread
    /// gets the same part every time, for the sake of its caches and its memory. `work` must not throw.
    void for_parts(std::size_t size, const std::function<void(Part)>& work);

  private:
    void serve(std::size_t rank);
    Part part(std::size_t rank) const;

    const std::function<void(Part)>* work_ = nullptr; ///< published by round_
    std::size_t size_{};
    std::size_t members_{};
    std::atomic<unsigned> round_{0};
    std::atomic<std::size_t> running_{0};
    std::atomic<bool> stop_{false};
    std::vector<std::thread> threads_;
};

/// Sets every element of an array (Buffer) to `value_of(index)`, a part a thread: memory lies where who touched it
/// first computes, and what all threads compute on must not lie at one of them.
template <class Array, class ValueOf>
void fill_in_parts(ThreadTeam& team, Array& array, const ValueOf& value_of)
{
    team.for_parts(array.size(), [&](Part part) {
        for (std::size_t i = part.begin; i < part.end; ++i)
            array[i] = value_of(i);
    });
}

} // namespace fathom::probes
