#pragma once

#include "probes/operators/buffer.hpp"
#include "probes/operators/thread_team.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// What compression and decompression share: data of a chosen entropy, and zlib's streams of their blocks.
namespace fathom::probes {

/// Data that compress as far as `random_percent` says: words of 64 bits, of which that share is random, while the
/// others are each one of 256 words. Every word follows from its position.
struct CompressibleData {
    std::size_t bytes{};
    std::int64_t random_percent{}; ///< 0 to 100
    std::uint64_t seed{};

    /// Writes the data from byte `first` on, a multiple of 8.
    void fill(std::span<std::byte> part, std::size_t first) const;

    /// The share of words that differ from the data. `content` must have all of the bytes.
    double error(std::span<const std::byte> content) const;

  private:
    std::uint64_t word(std::size_t index) const;
};

/// Each block is a stream of its own, so that threads share the work; as large as those of pigz.
inline constexpr std::size_t kCompressedBlock = std::size_t{128} << 10U;

constexpr std::size_t block_count(std::size_t bytes)
{
    return (bytes + kCompressedBlock - 1) / kCompressedBlock;
}

/// The blocks of data, compressed by zlib at its default level.
class CompressedBlocks {
  public:
    explicit CompressedBlocks(std::size_t bytes);

    /// Touches the memory by the threads that will compress.
    void prepare(ThreadTeam& team);

    /// Compresses all blocks of `data`, a part of them a thread. False when zlib fails.
    bool compress(ThreadTeam& team, std::span<const std::byte> data);

    /// Expands all blocks into `data`, a part of them a thread. False when a stream is damaged.
    bool expand(ThreadTeam& team, std::span<std::byte> data) const;

    /// Moves the streams together, one behind the other. They are expanded from there until the next compress().
    std::span<std::byte> joined();

    /// Bytes of all streams.
    std::size_t size() const;

    /// Bytes that an object for so many bytes of data needs.
    static double memory(double bytes);

  private:
    bool compress_block(std::size_t block, std::span<const std::byte> data);
    bool expand_block(std::size_t block, std::span<std::byte> data) const;

    std::size_t bytes_;
    Buffer<std::byte> streams_;
    std::vector<std::size_t> offsets_; ///< of each block's stream in streams_
    std::vector<std::size_t> sizes_;   ///< of each block's stream
};

/// "zlib 1.2.13, level 6, blocks of 128 KiB"
std::string zlib_name();

} // namespace fathom::probes
