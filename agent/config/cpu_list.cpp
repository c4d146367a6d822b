#include "agent/config/cpu_list.hpp"

#include "core/base/parse_number.hpp"

#include <bitset>
#include <sched.h>

namespace fathom::agent {
namespace {

constexpr std::int64_t kMaxCpu = 65535;

/// Reads a number from the front of `text` and removes it; false when there is none.
bool take_cpu(std::string_view& text, std::int64_t& number)
{
    number = take_number<std::int64_t>(text).value_or(-1);
    return number >= 0 && number <= kMaxCpu;
}

} // namespace

Result<std::vector<std::int64_t>> parse_cpu_list(std::string_view text)
{
    const Error malformed{Errc::kInvalid, "must be a list of processors such as 0-3,6"};
    std::bitset<kMaxCpu + 1> named;
    while (!text.empty()) {
        std::int64_t first = 0;
        if (!take_cpu(text, first)) return malformed;
        std::int64_t last = first;
        if (text.starts_with('-')) {
            text.remove_prefix(1);
            if (!take_cpu(text, last) || last < first) return malformed;
        }
        for (std::int64_t cpu = first; cpu <= last; ++cpu)
            named.set(static_cast<std::size_t>(cpu));
        if (text.empty()) break;
        if (text.front() != ',' || text.size() == 1) return malformed;
        text.remove_prefix(1);
    }
    std::vector<std::int64_t> cpus;
    cpus.reserve(named.count());
    for (std::int64_t cpu = 0; cpu <= kMaxCpu; ++cpu) {
        if (named.test(static_cast<std::size_t>(cpu))) cpus.push_back(cpu);
    }
    return cpus;
}

std::string format_cpu_list(std::span<const std::int64_t> cpus)
{
    std::string text;
    for (std::size_t i = 0; i < cpus.size();) {
        std::size_t last = i;
        while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1)
            ++last;
        text += (text.empty() ? "" : ",") + std::to_string(cpus[i]);
        if (last > i) text += "-" + std::to_string(cpus[last]);
        i = last + 1;
    }
    return text;
}

std::vector<std::int64_t> allowed_cpus()
{
    std::vector<std::int64_t> cpus;
    constexpr std::size_t kMax = 8192;
    cpu_set_t* set = CPU_ALLOC(kMax);
    const std::size_t size_bytes = CPU_ALLOC_SIZE(kMax);
    if (set != nullptr && ::sched_getaffinity(0, size_bytes, set) == 0) {
        for (std::size_t cpu = 0; cpu < kMax; ++cpu) {
            if (CPU_ISSET_S(cpu, size_bytes, set)) cpus.push_back(static_cast<std::int64_t>(cpu));
        }
    }
    if (set != nullptr) CPU_FREE(set);
    return cpus;
}

} // namespace fathom::agent
