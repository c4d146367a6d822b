#include "agent/gpu/interposer/region.hpp"

#include "agent/gpu/interposer/driver.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace fathom::gpu {
namespace {

constexpr std::size_t kPiece = 2U << 20U;  ///< the driver maps multiples of it
constexpr std::size_t kAlignment = 512;    ///< more than any program may expect of cuMemAlloc
constexpr std::size_t kSmall = kPiece / 2; ///< blocks up to this size share a piece with others

std::size_t rounded_up(std::size_t bytes, std::size_t multiple)
{
    return (bytes + multiple - 1) / multiple * multiple;
}

} // namespace

cuda::Status Region::reserve(cuda::Address wish, std::size_t bytes)
{
    const cuda::Status status = driver().mem_address_reserve(&start_, bytes, kPiece, wish, 0ULL);
    if (status == cuda::kSuccess) bytes_ = bytes;
    return status;
}

void Region::clear()
{
    for (auto& [address, extent] : extents_)
        unmap(address, extent);
    if (is_reserved()) (void)driver().mem_address_free(start_, bytes_);
    Region empty(device_);
    empty.peers_ = std::move(peers_);
    *this = std::move(empty);
}

/// A peer that the driver refuses could not reach the memory anyway: the program was told when it asked for that.
void Region::allow(cuda::Address address, std::size_t bytes, cuda::Device peer)
{
    const cuda::AccessDescription access{{cuda::kLocationDevice, peer}, cuda::kAccessReadWrite};
    (void)driver().mem_set_access(address, bytes, &access, std::size_t{1});
}

void Region::give_access(cuda::Device peer)
{
    if (peer == device_ || !peers_.insert(peer).second) return;
    for (const auto& [address, extent] : extents_) {
        if (extent.is_mapped) allow(address, extent.bytes, peer);
    }
}

std::optional<cuda::Address> Region::extent_with_room(std::size_t bytes, Contents contents) const
{
    for (const auto& [address, extent] : extents_) {
        if (!extent.is_for_small || extent.is_pinned || extent.contents != contents) continue;
        for (const auto& [start, free_bytes] : extent.free) {
            if (free_bytes >= bytes) return address;
        }
    }
    return std::nullopt;
}

std::size_t Region::bytes_to_map(std::size_t bytes, Contents contents) const
{
    if (bytes > kSmall) return rounded_up(bytes, kPiece);
    return extent_with_room(rounded_up(bytes, kAlignment), contents) ? 0 : kPiece;
}

/// First fit: whole iterations ask for the same sizes in the same order, and find the same addresses.
std::optional<cuda::Address> Region::find_addresses(std::size_t bytes) const
{
    cuda::Address start = start_;
    for (const auto& [address, extent] : extents_) {
        if (address - start >= bytes) return start;
        start = address + extent.bytes;
    }
    if (start_ + bytes_ - start >= bytes) return start;
    return std::nullopt;
}

cuda::Status Region::map(cuda::Address address, Extent& extent) const
{
    const cuda::Location location{cuda::kLocationDevice, device_};
    cuda::AllocationProperties properties{};
    properties.type = cuda::kAllocationPinned;
    properties.location = location;
    cuda::Status status = driver().mem_create(&extent.handle, extent.bytes, &properties, 0ULL);
    if (status != cuda::kSuccess) return status;
    status = driver().mem_map(address, extent.bytes, std::size_t{0}, extent.handle, 0ULL);
    if (status == cuda::kSuccess) {
        const cuda::AccessDescription access{location, cuda::kAccessReadWrite};
        status = driver().mem_set_access(address, extent.bytes, &access, std::size_t{1});
        if (status != cuda::kSuccess) (void)driver().mem_unmap(address, extent.bytes);
    }
    if (status != cuda::kSuccess) {
        (void)driver().mem_release(extent.handle);
        return status;
    }
    for (const cuda::Device peer : peers_)
        allow(address, extent.bytes, peer);
    extent.is_mapped = true;
    return status;
}

void Region::unmap(cuda::Address address, Extent& extent)
{
    if (!extent.is_mapped) return;
    (void)driver().mem_unmap(address, extent.bytes);
    (void)driver().mem_release(extent.handle);
    extent.is_mapped = false;
}

cuda::Status Region::add_extent(std::size_t bytes, Contents contents, bool is_for_small, cuda::Address* address)
{
    const std::optional<cuda::Address> found = find_addresses(bytes);
    if (!found) return cuda::kOutOfMemory;
    Extent extent;
    extent.bytes = bytes;
    extent.contents = contents;
    extent.is_for_small = is_for_small;
    if (is_for_small) extent.free[*found] = bytes;
    if (const cuda::Status status = map(*found, extent); status != cuda::kSuccess) return status;
    extents_.emplace(*found, std::move(extent));
    extent_bytes_ += bytes;
    *address = *found;
    return cuda::kSuccess;
}

cuda::Status Region::allocate(std::size_t bytes, Contents contents, cuda::Address* address)
{
    if (bytes > kSmall) {
        const cuda::Status status = add_extent(rounded_up(bytes, kPiece), contents, false, address);
        if (status != cuda::kSuccess) return status;
        extents_.at(*address).block_count = 1;
        blocks_[*address] = {bytes, *address};
        used_bytes_ += bytes;
        return status;
    }
    const std::size_t taken = rounded_up(bytes, kAlignment);
    std::optional<cuda::Address> place = extent_with_room(taken, contents);
    if (!place) {
        cuda::Address made{};
        if (const cuda::Status status = add_extent(kPiece, contents, true, &made); status != cuda::kSuccess)
            return status;
        place = made;
    }
    Extent& extent = extents_.at(*place);
    auto& free = extent.free;
    auto room = free.begin();
    while (room->second < taken)
        ++room;
    *address = room->first;
    const std::size_t left = room->second - taken;
    free.erase(room);
    if (left > 0) free[*address + taken] = left;
    ++extent.block_count;
    blocks_[*address] = {bytes, *place};
    used_bytes_ += bytes;
    return cuda::kSuccess;
}

void Region::remove_extent(std::map<cuda::Address, Extent>::iterator extent)
{
    if (extent->second.is_mapped) {
        // Other streams may still be at what was done with it before.
        (void)driver().ctx_synchronize();
        unmap(extent->first, extent->second);
    }
    (extent->second.is_pinned ? pinned_bytes_ : extent_bytes_) -= extent->second.bytes;
    extents_.erase(extent);
}

bool Region::release(cuda::Address address)
{
    const auto block = blocks_.find(address);
    if (block == blocks_.end()) return false;
    const auto extent = extents_.find(block->second.extent);
    const std::size_t taken = rounded_up(block->second.bytes, kAlignment);
    used_bytes_ -= block->second.bytes;
    blocks_.erase(block);
    if (--extent->second.block_count == 0) {
        remove_extent(extent);
        return true;
    }
    auto& free = extent->second.free;
    auto own = free.emplace(address, taken).first;
    if (const auto next = std::next(own); next != free.end() && own->first + own->second == next->first) {
        own->second += next->second;
        free.erase(next);
    }
    if (own != free.begin()) {
        const auto before = std::prev(own);
        if (before->first + before->second == own->first) {
            before->second += own->second;
            free.erase(own);
        }
    }
    return true;
}

std::optional<std::pair<cuda::Address, std::size_t>> Region::block_at(cuda::Address address) const
{
    auto block = blocks_.upper_bound(address);
    if (block == blocks_.begin()) return std::nullopt;
    --block;
    if (address >= block->first + std::max<std::size_t>(block->second.bytes, 1)) return std::nullopt;
    return std::pair{block->first, block->second.bytes};
}

std::size_t Region::bytes_to_pin(cuda::Address block) const
{
    const auto found = blocks_.find(block);
    if (found == blocks_.end()) return 0;
    const Extent& extent = extents_.at(found->second.extent);
    return extent.contents == Contents::kKept && extent.is_mapped && !extent.is_pinned ? extent.bytes : 0;
}

void Region::pin(cuda::Address block)
{
    const std::size_t bytes = bytes_to_pin(block);
    if (bytes == 0) return;
    extents_.at(blocks_.at(block).extent).is_pinned = true;
    extent_bytes_ -= bytes;
    pinned_bytes_ += bytes;
}

std::optional<std::size_t> Region::take_away(bool is_iteration_over)
{
    std::size_t copied = 0;
    for (auto& [address, extent] : extents_) {
        if (!extent.is_mapped || extent.is_pinned) continue;
        if (is_iteration_over && extent.contents == Contents::kDead) continue;
        extent.kept.reset(new (std::nothrow) char[extent.bytes]);
        if (extent.kept == nullptr ||
            driver().memcpy_dtoh(extent.kept.get(), address, extent.bytes) != cuda::kSuccess) {
            for (auto& [other, its] : extents_)
                its.kept.reset();
            return std::nullopt;
        }
        copied += extent.bytes;
    }
    for (auto& [address, extent] : extents_) {
        if (!extent.is_pinned) unmap(address, extent);
    }
    return copied;
}

std::optional<std::size_t> Region::bring_back()
{
    std::size_t copied = 0;
    for (auto& [address, extent] : extents_) {
        if (extent.is_mapped) continue;
        if (map(address, extent) != cuda::kSuccess) return std::nullopt;
        if (extent.kept == nullptr) continue;
        if (driver().memcpy_htod(address, extent.kept.get(), extent.bytes) != cuda::kSuccess) {
            unmap(address, extent);
            return std::nullopt;
        }
        copied += extent.bytes;
        extent.kept.reset();
    }
    return copied;
}

} // namespace fathom::gpu
