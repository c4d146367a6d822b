#include "probes/operators/compressible_blocks.hpp"

#include "probes/operators/random.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>
#include <zlib.h>

namespace fathom::probes {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);
constexpr int kLevel = 6; ///< what zlib and gzip do when nobody says otherwise
/// ThreadTeam gives whole lines of that many items to a thread.
constexpr std::size_t kItemsOfBlock = 8;

/// Where the streams of a block begin before they are moved together.
std::size_t stream_room()
{
    return compressBound(kCompressedBlock);
}

std::span<const std::byte> block_of(std::span<const std::byte> data, std::size_t block)
{
    const std::size_t begin = block * kCompressedBlock;
    return data.subspan(begin, std::min(kCompressedBlock, data.size() - begin));
}

/// Does `work` for every block, a part of them a thread. @return whether it was true for all.
template <class Work>
bool for_blocks(ThreadTeam& team, std::size_t bytes, const Work& work)
{
    std::atomic<bool> all{true};
    team.for_parts(block_count(bytes) * kItemsOfBlock, [&](Part part) {
        for (std::size_t block = part.begin / kItemsOfBlock; block < part.end / kItemsOfBlock; ++block) {
            if (!work(block)) all = false;
        }
    });
    return all;
}

} // namespace

std::uint64_t CompressibleData::word(std::size_t index) const
{
    constexpr std::uint64_t kChoices = 0x6a09e667f3bcc908U;
    constexpr std::uint64_t kWords = 0xbb67ae8584caa73bU;
    constexpr std::uint64_t kWordCount = 256;
    const std::uint64_t choice = random_bits(seed ^ kChoices, index);
    if (static_cast<std::int64_t>(choice % 100) < random_percent) return random_bits(seed, index);
    return random_bits(seed ^ kWords, choice / 100 % kWordCount);
}

void CompressibleData::fill(std::span<std::byte> part, std::size_t first) const
{
    for (std::size_t at = 0; at < part.size(); at += kWord) {
        const std::uint64_t value = word((first + at) / kWord);
        std::memcpy(part.data() + at, &value, std::min(kWord, part.size() - at));
    }
}

double CompressibleData::error(std::span<const std::byte> content) const
{
    std::size_t wrong = 0;
    for (std::size_t at = 0; at < content.size(); at += kWord) {
        const std::uint64_t value = word(at / kWord);
        if (std::memcmp(content.data() + at, &value, std::min(kWord, content.size() - at)) != 0) ++wrong;
    }
    return static_cast<double>(wrong) / static_cast<double>((content.size() + kWord - 1) / kWord);
}

CompressedBlocks::CompressedBlocks(std::size_t bytes)
    : bytes_(bytes), streams_(block_count(bytes) * stream_room()), offsets_(block_count(bytes)),
      sizes_(block_count(bytes))
{
}

void CompressedBlocks::prepare(ThreadTeam& team)
{
    for_blocks(team, bytes_, [this](std::size_t block) {
        std::memset(streams_.data() + block * stream_room(), 0, stream_room());
        return true;
    });
}

bool CompressedBlocks::compress(ThreadTeam& team, std::span<const std::byte> data)
{
    return for_blocks(team, bytes_, [&](std::size_t block) { return compress_block(block, data); });
}

bool CompressedBlocks::compress_block(std::size_t block, std::span<const std::byte> data)
{
    const std::span<const std::byte> source = block_of(data, block);
    offsets_[block] = block * stream_room();
    uLongf size = stream_room();
    const int status =
        ::compress2(reinterpret_cast<Bytef*>(streams_.data() + offsets_[block]), &size,
                    reinterpret_cast<const Bytef*>(source.data()), static_cast<uLong>(source.size()), kLevel);
    sizes_[block] = status == Z_OK ? size : 0;
    return status == Z_OK;
}

bool CompressedBlocks::expand(ThreadTeam& team, std::span<std::byte> data) const
{
    return for_blocks(team, bytes_, [&](std::size_t block) { return expand_block(block, data); });
}

bool CompressedBlocks::expand_block(std::size_t block, std::span<std::byte> data) const
{
    const std::size_t wanted = block_of(data, block).size();
    uLongf size = wanted;
    const int status = ::uncompress(reinterpret_cast<Bytef*>(data.data() + block * kCompressedBlock), &size,
                                    reinterpret_cast<const Bytef*>(streams_.data() + offsets_[block]),
                                    static_cast<uLong>(sizes_[block]));
    return status == Z_OK && size == wanted;
}

std::span<std::byte> CompressedBlocks::joined()
{
    std::size_t end = 0;
    for (std::size_t block = 0; block < sizes_.size(); ++block) {
        std::memmove(streams_.data() + end, streams_.data() + offsets_[block], sizes_[block]);
        offsets_[block] = end;
        end += sizes_[block];
    }
    return {streams_.data(), end};
}

std::size_t CompressedBlocks::size() const
{
    return std::accumulate(sizes_.begin(), sizes_.end(), std::size_t{0});
}

double CompressedBlocks::memory(double bytes)
{
    // A stream that does not get smaller takes a thousandth more than its data, and zlib's own state beside it.
    constexpr double kState = 3e5;
    return 1.01 * (bytes + static_cast<double>(kCompressedBlock)) + kState;
}

std::string zlib_name()
{
    return std::string("zlib ") + ::zlibVersion() + ", level " + std::to_string(kLevel) + ", blocks of " +
           std::to_string(kCompressedBlock >> 10U) + " KiB";
}

} // namespace fathom::probes
