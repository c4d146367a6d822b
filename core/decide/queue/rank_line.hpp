#pragma once

#include <compare>
#include <cstdint>
#include <vector>

/// Who wants the units of one type most; part of core/decide/queue/wait_queue.
namespace fathom {

/// A job's rank: less comes first, of equals the smaller key.
struct PriorityRank {
    double index{};
    std::uint64_t key{};
    auto operator<=>(const PriorityRank&) const = default;
};

/// The jobs that a unit type suits best, in the order of their rank. Who comes is put in order when the order is asked
/// for, so that many who come at once are sorted once. Not thread-safe.
class RankLine {
  public:
    void add(PriorityRank rank, std::int64_t units);
    /// Takes out the job of this rank, which must be in line.
    void remove(PriorityRank rank);
    void clear();
    /// Units that the jobs before this rank want, whether the job itself is in line or not.
    std::int64_t units_before(PriorityRank rank) const;

  private:
    struct InLine {
        PriorityRank rank;
        std::int64_t units{};
        mutable std::int64_t units_before{};
    };
    std::vector<InLine>::iterator find(PriorityRank rank) const;
    void settle() const;

    mutable std::vector<InLine> line_;
    mutable std::vector<InLine> coming_; ///< not yet in line_
    mutable std::size_t summed_ = 0;     ///< so many from the front know units_before
};

} // namespace fathom
