#pragma once

#include <compare>
#include <cstdint>
#include <vector>

/// Who wants the units of one type most; part of core/decide/queue/wait_queue.
namespace fathom {

/// A job's turn: less comes first, of equals the smaller key.
struct JobTurn {
    double index{};
    std::uint64_t key{};
    auto operator<=>(const JobTurn&) const = default;
};

/// The jobs that a unit type suits best, in the order of their turn. Who comes is put in order when the order is asked
/// for, so that many who come at once are sorted once. Not thread-safe.
class TurnLine {
  public:
    void add(JobTurn turn, std::int64_t units);
    /// Takes out the job of this turn, which must be in line.
    void remove(JobTurn turn);
    void clear();
    /// Units that the jobs before this turn want, whether the job itself is in line or not.
    std::int64_t units_before(JobTurn turn) const;

  private:
    struct InLine {
        JobTurn turn;
        std::int64_t units{};
        mutable std::int64_t units_before{};
    };
    std::vector<InLine>::iterator find(JobTurn turn) const;
    void settle() const;

    mutable std::vector<InLine> line_;
    mutable std::vector<InLine> coming_; ///< not yet in line_
    mutable std::size_t summed_ = 0;     ///< so many from the front know units_before
};

} // namespace fathom
