#include "tests/agent/gpu/caching_allocator.hpp"

#include <cstdio>
#include <cstdlib>
#include <iterator>

using namespace fathom::gpu::cuda;

extern "C" {
MemAlloc cuMemAlloc_v2;
MemFree cuMemFree_v2;
CtxSynchronize cuCtxSynchronize;
}

namespace caching_trainer {
namespace {

constexpr std::size_t kGrain = 512;                ///< bytes; blocks are multiples
constexpr std::size_t kMaxSmall = 256UL << 10U;    ///< bytes; larger blocks lie in segments of large blocks
constexpr std::size_t kSegment = 2UL << 20U;       ///< bytes of a segment; of larger ones the multiple
constexpr std::size_t kMinLargeRest = 64UL << 10U; ///< bytes; a smaller rest of a large block is not split off

bool is_small(std::size_t bytes)
{
    return bytes <= kMaxSmall;
}

std::size_t rounded(std::size_t bytes, std::size_t multiple)
{
    return (bytes + multiple - 1) / multiple * multiple;
}

[[noreturn]] void fail(int code, const char* what, Status status)
{
    std::fprintf(stderr, "caching allocator: %s: status %d\n", what, status);
    std::exit(code);
}

} // namespace

Address CachingAllocator::allocate(std::size_t bytes)
{
    const std::size_t wanted = rounded(bytes, kGrain);
    auto block = best_fit(wanted);
    if (block == blocks_.end()) {
        block = add_segment(wanted);
    } else {
        ++counts_.reuses;
    }
    block->second.is_free = false;
    const std::size_t rest = block->second.bytes - wanted;
    if (rest >= (is_small(wanted) ? kGrain : kMinLargeRest)) {
        blocks_[block->first + wanted] = {rest, block->second.segment, true};
        block->second.bytes = wanted;
        ++counts_.splits;
    }
    return block->first;
}

void CachingAllocator::release(Address address)
{
    auto block = blocks_.find(address);
    if (block == blocks_.end() || block->second.is_free) fail(4, "a block is released that is none", kInvalidValue);
    block->second.is_free = true;
    if (const auto next = std::next(block); are_joined(block, next)) {
        block->second.bytes += next->second.bytes;
        blocks_.erase(next);
        ++counts_.joins;
    }
    if (block == blocks_.begin()) return;
    if (const auto before = std::prev(block); are_joined(before, block)) {
        before->second.bytes += block->second.bytes;
        blocks_.erase(block);
        ++counts_.joins;
    }
}

void CachingAllocator::empty_cache()
{
    for (auto segment = segments_.begin(); segment != segments_.end();) {
        const auto block = blocks_.find(segment->first);
        if (!block->second.is_free || block->second.bytes != segment->second.bytes) {
            ++segment;
            continue;
        }
        if (const Status status = cuMemFree_v2(segment->first); status != kSuccess) fail(4, "cuMemFree", status);
        blocks_.erase(block);
        segment = segments_.erase(segment);
        ++counts_.given_back;
    }
}

/// The smallest free block that is large enough, in a segment of its kind.
CachingAllocator::Blocks::iterator CachingAllocator::best_fit(std::size_t bytes)
{
    auto best = blocks_.end();
    for (auto block = blocks_.begin(); block != blocks_.end(); ++block) {
        if (!block->second.is_free || block->second.bytes < bytes) continue;
        if (segments_.at(block->second.segment).is_of_small != is_small(bytes)) continue;
        if (best == blocks_.end() || block->second.bytes < best->second.bytes) best = block;
    }
    return best;
}

/// What is only kept goes back to the driver before the program gives up.
CachingAllocator::Blocks::iterator CachingAllocator::add_segment(std::size_t bytes)
{
    const std::size_t size = rounded(bytes, kSegment);
    Address address = 0;
    Status status = cuMemAlloc_v2(&address, size);
    if (status == kOutOfMemory) {
        if (const Status waited = cuCtxSynchronize(); waited != kSuccess) fail(4, "cuCtxSynchronize", waited);
        empty_cache();
        status = cuMemAlloc_v2(&address, size);
    }
    if (status != kSuccess) fail(status == kOutOfMemory ? 3 : 4, "cuMemAlloc", status);
    segments_[address] = {size, is_small(bytes)};
    ++counts_.segments;
    return blocks_.insert_or_assign(address, Block{size, address, true}).first;
}

bool CachingAllocator::are_joined(const Blocks::iterator& left, const Blocks::iterator& right) const
{
    return right != blocks_.end() && left->second.is_free && right->second.is_free &&
           left->second.segment == right->second.segment;
}

} // namespace caching_trainer
