#pragma once

#include "agent/gpu/cuda_abi.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

namespace fathom::gpu {

/// Addresses of one kind of memory on one GPU, reserved once, and the memory that is mapped under them now. Memory can
/// be taken away and come back at the same addresses (G4). Not thread-safe; the GPU's context is current on the caller.
class Region {
  public:
    /// What becomes of memory when it is taken away.
    enum class Contents {
        kKept, ///< copied to the host, and back when the memory comes back
        kDead, ///< lost, where the program has said that an iteration is over; else kept
    };

    explicit Region(cuda::Device device) : device_(device) {}

    /// Gives all of it back, addresses too. Memory that is mapped is no context's: it does not go with one.
    void clear();

    /// @param wish   where the addresses should begin; the driver may choose others.
    /// @param bytes  whole pieces.
    cuda::Status reserve(cuda::Address wish, std::size_t bytes);
    bool is_reserved() const { return bytes_ != 0; }
    /// Another GPU of the program may use the memory, also what is mapped later.
    void give_access(cuda::Device peer);

    /// Memory that must be mapped for a block of that size; 0 where it fits into what is.
    std::size_t bytes_to_map(std::size_t bytes, Contents contents) const;
    /// A block, 512-byte aligned.
    cuda::Status allocate(std::size_t bytes, Contents contents, cuda::Address* address);
    /// Work that uses the block has been waited for: the next one may get its memory at once.
    /// @return  false where no block begins there.
    bool release(cuda::Address address);
    /// The block that an address lies in: its start and size.
    std::optional<std::pair<cuda::Address, std::size_t>> block_at(cuda::Address address) const;

    /// Memory that stays mapped when the rest is taken away, if pin() is called for a block: all that is mapped
    /// together with it. 0 where no block begins there, where its content may be lost, where it is away, or where it
    /// stays anyway.
    std::size_t bytes_to_pin(cuda::Address block) const;
    /// From now on the block stays, until it is released. Nothing where bytes_to_pin() is 0.
    void pin(cuda::Address block);

    /// Takes all memory away but what is pinned. What is to be kept is copied to the host.
    /// @return  bytes copied; nothing where a copy failed: then memory and contents are as before.
    std::optional<std::size_t> take_away(bool is_iteration_over);
    /// Brings it back, with what was kept.
    /// @return  bytes copied; nothing where the driver has no memory: then it is not back, and may be tried again.
    std::optional<std::size_t> bring_back();

    std::size_t used_bytes() const { return used_bytes_; } ///< of blocks
    /// Mapped, or to be mapped when memory is back; without what is pinned.
    std::size_t extent_bytes() const { return extent_bytes_; }
    std::size_t pinned_bytes() const { return pinned_bytes_; }
    std::size_t block_count() const { return blocks_.size(); }

  private:
    /// Addresses that are mapped together.
    struct Extent {
        std::size_t bytes{};
        Contents contents{};
        bool is_mapped{};
        bool is_pinned{};
        cuda::MemoryHandle handle{};
        std::unique_ptr<char[]> kept; ///< on the host, while away
        std::size_t block_count{};
        std::map<cuda::Address, std::size_t> free; ///< of an extent for small blocks
        bool is_for_small{};
    };
    struct Block {
        std::size_t bytes{};
        cuda::Address extent{};
    };

    static void allow(cuda::Address address, std::size_t bytes, cuda::Device peer);
    std::optional<cuda::Address> find_addresses(std::size_t bytes) const;
    cuda::Status add_extent(std::size_t bytes, Contents contents, bool is_for_small, cuda::Address* address);
    void remove_extent(std::map<cuda::Address, Extent>::iterator extent);
    cuda::Status map(cuda::Address address, Extent& extent) const;
    static void unmap(cuda::Address address, Extent& extent);
    std::optional<cuda::Address> extent_with_room(std::size_t bytes, Contents contents) const;

    cuda::Device device_;
    cuda::Address start_{};
    std::size_t bytes_{};
    std::set<cuda::Device> peers_; ///< that may use it, too
    std::map<cuda::Address, Extent> extents_;
    std::map<cuda::Address, Block> blocks_;
    std::size_t used_bytes_{};
    std::size_t extent_bytes_{};
    std::size_t pinned_bytes_{};
};

} // namespace fathom::gpu
