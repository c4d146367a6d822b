#pragma once

#include "agent/gpu/cuda_abi.hpp"

#include <cstddef>
#include <cstdint>
#include <map>

namespace caching_trainer {

/// Allocates from the driver as frameworks do: few large segments, which are split into blocks, and blocks that are
/// free again are kept for later. Small and large blocks have segments of their own. All work is on one stream, so that
/// a block may be given again while kernels still use it. Ends the program with 3 where no memory is left.
class CachingAllocator {
  public:
    using Address = fathom::gpu::cuda::Address;

    Address allocate(std::size_t bytes);
    /// Joined with free neighbours of the same segment, and kept.
    void release(Address address);
    /// Gives segments that are free as a whole back to the driver.
    void empty_cache();

    /// How often each has happened.
    struct Counts {
        std::int64_t splits{};
        std::int64_t joins{};
        std::int64_t reuses{};   ///< blocks that needed no segment
        std::int64_t segments{}; ///< that were asked of the driver
        std::int64_t given_back{};
    };
    const Counts& counts() const { return counts_; }
    bool is_empty() const { return blocks_.empty(); }

  private:
    struct Block {
        std::size_t bytes{};
        Address segment{}; ///< its beginning
        bool is_free{};
    };
    using Blocks = std::map<Address, Block>;
    struct Segment {
        std::size_t bytes{};
        bool is_of_small{}; ///< blocks
    };

    Blocks::iterator best_fit(std::size_t bytes);
    Blocks::iterator add_segment(std::size_t bytes);
    bool are_joined(const Blocks::iterator& left, const Blocks::iterator& right) const;

    Blocks blocks_; ///< all of all segments
    std::map<Address, Segment> segments_;
    Counts counts_;
};

} // namespace caching_trainer
