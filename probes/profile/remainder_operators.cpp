#include "probes/profile/remainder_operators.hpp"

#include "core/base/run_program.hpp"
#include "core/model/probe_result.hpp"
#include "probes/profile/counts_folder.hpp"
#include "probes/profile/stand_ins.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <unistd.h>

namespace fathom::profile {
namespace {

constexpr std::chrono::seconds kMaxTime(30);

std::string task_of(const std::vector<StandIn>& parts)
{
    ProbeTask task;
    task.name = "remainder";
    task.repeats = 3;
    task.min_sample_s = 0.01;
    task.target_interval = 0; // a count within some percent is enough, and the job's unit is held meanwhile
    for (const StandIn& part : parts)
        task.operators.push_back({.id = part.id, .version = 0, .parameters = part.parameters, .count = 1});
    return to_json(task).dump();
}

} // namespace

Result<void> add_remainder_operators(Profile& profile, const std::vector<OperatorManifest>& library)
{
    std::vector<StandIn> parts = stand_ins(profile.remainder, profile.own_code);
    std::erase_if(parts, [&](const StandIn& part) {
        return std::none_of(library.begin(), library.end(),
                            [&](const OperatorManifest& manifest) { return manifest.id == part.id; });
    });
    if (parts.empty()) return {};
    const std::string program = own_folder() + "/fathom-probe";
    if (::access(program.c_str(), X_OK) != 0) return Error{Errc::kUnavailable, program + " is missing"};
    // Counts are of one thread.
    const Result<std::string> output =
        run_program_on(task_of(parts), {program, "--task", "-"}, {{"FATHOM_CORES", "1"}}, kMaxTime);
    if (!output)
        return Error{output.error().code,
                     "the operators that stand for the remainder cannot be timed: " + output.error().detail};
    const Result<Json> json = parse_json(*output);
    if (!json) return json.error();
    const Result<ProbeResult> result = parse_probe_result(*json);
    if (!result) return result.error();
    for (std::size_t i = 0; i < parts.size() && i < result->operators.size(); ++i) {
        const double each_s = result->operators[i].median_s;
        if (each_s <= 0) continue;
        OperatorUse use;
        use.id = parts[i].id;
        use.parameters = result->operators[i].parameters;
        use.count = std::max<std::int64_t>(1, std::llround(parts[i].share * profile.thread_s / each_s));
        use.share = parts[i].share;
        use.remainder = parts[i].remainder;
        profile.stand_in_similarity[operator_key(use.id, use.parameters) + use.remainder] = parts[i].similarity;
        profile.operators.push_back(std::move(use));
    }
    return {};
}

} // namespace fathom::profile
