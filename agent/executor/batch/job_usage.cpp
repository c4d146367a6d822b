#include "agent/executor/batch/job_usage.hpp"

#include "core/base/parse_number.hpp"
#include "core/base/split_text.hpp"

#include <algorithm>

namespace fathom::agent {
namespace {

constexpr std::int64_t kMaxMemoryBytes = 1LL << 50U;
constexpr std::int64_t kMaxCpu_us = 1'000'000'000'000'000'000;
constexpr std::string_view kMemoryWord = "memory ";
constexpr std::string_view kCpuWord = "cpu_us ";

/// What follows `word` in a line that begins with it; 0 where that is none that is sensible.
std::int64_t amount_after(std::string_view word, std::string_view line, std::int64_t most)
{
    if (!line.starts_with(word)) return 0;
    const std::int64_t amount = parse_number<std::int64_t>(line.substr(word.size())).value_or(0);
    return amount > 0 && amount <= most ? amount : 0;
}

} // namespace

JobUsage read_usage(std::string_view note)
{
    JobUsage usage;
    std::int64_t cpu_us = 0;
    for (const std::string_view line : split_text(note, '\n')) {
        usage.peak_memory_bytes = std::max(usage.peak_memory_bytes, amount_after(kMemoryWord, line, kMaxMemoryBytes));
        cpu_us = std::max(cpu_us, amount_after(kCpuWord, line, kMaxCpu_us));
    }
    usage.cpu_s = static_cast<double>(cpu_us) / 1e6;
    return usage;
}

void add_usage(AttemptEnd& end, const JobUsage& usage)
{
    if (!end.started_at) return;
    end.cpu_s = usage.is_cpu_whole ? usage.cpu_s : std::max(end.cpu_s, usage.cpu_s);
    end.energy_j = usage.energy_j;
    if (end.outcome != AttemptOutcome::kOutOfMemory) end.max_resident_bytes = usage.peak_memory_bytes;
}

} // namespace fathom::agent
