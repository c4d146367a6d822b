#include "probes/profile/remainder_operators.hpp"

#include "probes/profile/stand_ins.hpp"

#include <algorithm>
#include <cmath>

namespace fathom::profile {
namespace {

/// The times of all parts that can be timed: those that are known, and the others measured now.
Result<std::vector<TimedStandIn>> times_of(const std::vector<StandIn>& parts, const KnownMachine& machine)
{
    std::vector<StandIn> unknown = parts;
    std::erase_if(unknown, [&](const StandIn& part) { return find_time(machine.stand_ins, part) != nullptr; });
    std::vector<TimedStandIn> times = machine.stand_ins;
    if (unknown.empty()) return times;
    Result<std::vector<TimedStandIn>> measured = time_stand_ins(unknown);
    if (!measured) return measured.error();
    times.insert(times.end(), measured->begin(), measured->end());
    return times;
}

} // namespace

Result<void> add_remainder_operators(Profile& profile, const std::vector<OperatorManifest>& library,
                                     const KnownMachine& machine)
{
    std::vector<StandIn> parts = stand_ins(profile.remainder, profile.own_code);
    std::erase_if(parts, [&](const StandIn& part) {
        return std::none_of(library.begin(), library.end(),
                            [&](const OperatorManifest& manifest) { return manifest.id == part.id; });
    });
    const Result<std::vector<TimedStandIn>> times = times_of(parts, machine);
    if (!times) return times.error();
    for (const StandIn& part : parts) {
        const TimedStandIn* const time = find_time(*times, part);
        if (time == nullptr) continue;
        OperatorUse use;
        use.id = part.id;
        use.parameters = time->parameters;
        use.count = std::max<std::int64_t>(1, std::llround(part.share * profile.thread_s / time->each_s));
        use.share = part.share;
        use.remainder = part.remainder;
        profile.stand_in_similarity[operator_key(use.id, use.parameters) + use.remainder] = part.similarity;
        profile.operators.push_back(std::move(use));
    }
    return {};
}

} // namespace fathom::profile
