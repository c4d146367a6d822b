#include "probes/profile/hot_loops.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

namespace fathom::profile {
namespace {

constexpr std::uint64_t kMaxLoopBytes = 4096; // bytes
constexpr std::size_t kMaxLoopInstructions = 1024;

struct Extent {
    std::uint64_t begin{};
    std::uint64_t end{};
    bool is_loop{};
};

/// Follows the code from a place that the program was at: there an instruction begins.
Extent extent_around(std::uint64_t place, const ReadCode& read, const Disassembler& disassembler)
{
    // Most loops are short: the rest is not read.
    constexpr std::size_t kAtOnce = 32;
    const std::string code = read(place, kMaxLoopBytes);
    Extent extent{place, place, false};
    std::uint64_t farthest = place; // that a branch forward reaches
    for (std::size_t decoded = 0; decoded < kMaxLoopInstructions; decoded += kAtOnce) {
        const std::string_view rest = std::string_view(code).substr(static_cast<std::size_t>(extent.end - place));
        const std::vector<Instruction> next = disassembler.decode(rest, extent.end, kAtOnce);
        for (const Instruction& one : next) {
            const std::uint64_t behind = one.address + one.bytes;
            if (one.target && !one.is_call) {
                if (*one.target <= place && place - *one.target <= kMaxLoopBytes) return {*one.target, behind, true};
                if (*one.target > one.address && *one.target - place <= kMaxLoopBytes)
                    farthest = std::max(farthest, *one.target);
            }
            extent.end = behind;
            if (one.ends && behind > farthest) return extent;
        }
        if (next.size() < kAtOnce) break;
    }
    return extent;
}

CodeMix mix_of_extent(const HotLoop& extent, const ReadCode& read, const Disassembler& disassembler)
{
    const std::string code = read(extent.begin, static_cast<std::size_t>(extent.end - extent.begin));
    std::vector<Instruction> instructions = disassembler.decode(code, extent.begin, kMaxLoopInstructions);
    mark_indirect(instructions);
    std::vector<CodeInstruction> loop;
    loop.reserve(instructions.size());
    for (const Instruction& one : instructions)
        loop.push_back(one.code);
    return mix_of(loop);
}

/// Takes the samples within an extent away from those that no loop has yet.
std::uint64_t take(const Extent& extent, CodeSamples& left)
{
    std::uint64_t taken = 0;
    const auto first = left.lower_bound(extent.begin);
    const auto last = left.lower_bound(extent.end);
    for (auto at = first; at != last; ++at)
        taken += at->second;
    left.erase(first, last);
    return taken;
}

/// The code around the places where most samples are.
std::vector<Extent> hottest_extents(const CodeSamples& samples, const ReadCode& read, const Disassembler& disassembler)
{
    constexpr std::size_t kMaxHotPlaces = 256;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> hottest(samples.begin(), samples.end());
    std::sort(hottest.begin(), hottest.end(),
              [](const auto& a, const auto& b) { return std::tie(b.second, a.first) < std::tie(a.second, b.first); });
    if (hottest.size() > kMaxHotPlaces) hottest.resize(kMaxHotPlaces);
    std::vector<Extent> extents;
    for (const auto& [place, count] : hottest) {
        const Extent extent = extent_around(place, read, disassembler);
        if (extent.end > extent.begin) extents.push_back(extent); // else: no code that anybody could read
    }
    return extents;
}

void sort_hottest_first(std::vector<HotLoop>& loops)
{
    std::sort(loops.begin(), loops.end(), [](const HotLoop& a, const HotLoop& b) {
        return std::tie(b.samples, a.begin, a.end) < std::tie(a.samples, b.begin, b.end);
    });
}

/// Loops that begin at one place are one that goes back from several: the way that is taken most tells what it does.
std::vector<HotLoop> join_equal(std::vector<HotLoop> loops)
{
    sort_hottest_first(loops);
    std::vector<HotLoop> joined;
    for (const HotLoop& loop : loops) {
        const auto same =
            std::find_if(joined.begin(), joined.end(), [&](const HotLoop& one) { return one.begin == loop.begin; });
        if (same == joined.end())
            joined.push_back(loop);
        else
            same->samples += loop.samples;
    }
    sort_hottest_first(joined);
    return joined;
}

} // namespace

std::vector<HotLoop> find_loops(const CodeSamples& samples, const ReadCode& read, const Disassembler& disassembler,
                                std::size_t most)
{
    std::vector<Extent> extents = hottest_extents(samples, read, disassembler);
    // Small loops lie within large ones, and straight code may be a part of a loop that goes on elsewhere.
    std::sort(extents.begin(), extents.end(), [](const Extent& a, const Extent& b) {
        const auto order = [](const Extent& one) { return std::tuple(!one.is_loop, one.end - one.begin, one.begin); };
        return order(a) < order(b);
    });
    CodeSamples left = samples;
    std::vector<HotLoop> loops;
    for (const Extent& extent : extents) {
        const std::uint64_t taken = take(extent, left);
        if (taken > 0) loops.push_back({extent.begin, extent.end, taken, {}});
    }
    loops = join_equal(std::move(loops));
    if (loops.size() > most) loops.resize(most);
    for (HotLoop& loop : loops)
        loop.mix = mix_of_extent(loop, read, disassembler);
    return loops;
}

} // namespace fathom::profile
