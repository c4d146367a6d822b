#include "probes/profile/known_machine.hpp"

#include "core/base/run_program.hpp"
#include "core/model/probe_result.hpp"
#include "core/model/probe_task.hpp"
#include "probes/profile/counts_folder.hpp"
#include "probes/profile/memory_use.hpp"

#include <algorithm>
#include <chrono>
#include <unistd.h>

namespace fathom::profile {
namespace {

constexpr std::chrono::seconds kMaxProbeTime(30);
constexpr double kMaxExecution_s = 3600;
constexpr double kMaxBandwidth = 1e15;
constexpr std::size_t kMaxTimes = 100;

std::string task_of(const std::vector<StandIn>& parts)
{
    ProbeTask task;
    task.name = "remainder";
    task.repeats = 3;
    task.min_sample_s = 0.01;
    task.target_interval = 0; // a count within some percent is enough, and a job's unit may be held meanwhile
    for (const StandIn& part : parts)
        task.operators.push_back({.id = part.id, .version = 0, .parameters = part.parameters, .count = 1});
    return to_json(task).dump();
}

TimedStandIn parse_time(const Json& json, const std::string& path, std::vector<FieldError>& errors)
{
    ObjectReader reader(json, path, errors);
    TimedStandIn time;
    time.id = reader.required_string("id", {.min_length = 1, .max_length = 64});
    if (const Json* parameters = reader.object("parameters"))
        time.parameters = parse_parameters(*parameters, reader.path_of("parameters"), errors);
    time.each_s = reader.required_number("each_s", 0, kMaxExecution_s);
    reader.finish(UnknownFields::kIgnore);
    return time;
}

} // namespace

Result<std::vector<TimedStandIn>> time_stand_ins(const std::vector<StandIn>& parts)
{
    const std::string program = own_folder() + "/fathom-probe";
    if (::access(program.c_str(), X_OK) != 0) return Error{Errc::kUnavailable, program + " is missing"};
    // Counts are of one thread.
    const Result<std::string> output =
        run_program_on(task_of(parts), {program, "--task", "-"}, {{"FATHOM_CORES", "1"}}, kMaxProbeTime);
    if (!output)
        return Error{output.error().code,
                     "the operators that stand for the remainder cannot be timed: " + output.error().detail};
    const Result<Json> json = parse_json(*output);
    if (!json) return json.error();
    const Result<ProbeResult> result = parse_probe_result(*json);
    if (!result) return result.error();
    std::vector<TimedStandIn> times;
    for (const OperatorResult& one : result->operators)
        times.push_back({one.id, one.parameters, one.median_s});
    return times;
}

Result<KnownMachine> measure_machine(const std::vector<OperatorManifest>& library)
{
    std::vector<StandIn> parts = possible_stand_ins();
    std::erase_if(parts, [&](const StandIn& part) {
        return std::none_of(library.begin(), library.end(),
                            [&](const OperatorManifest& manifest) { return manifest.id == part.id; });
    });
    KnownMachine machine;
    machine.bandwidth_bytes_per_s = measure_bandwidth();
    machine.shows_pages = shows_touched_pages();
    // One by one: where this is ended before its time, the prober that it has just started is soon through.
    for (const StandIn& part : parts) {
        const Result<std::vector<TimedStandIn>> times = time_stand_ins({part});
        if (!times) return times.error();
        machine.stand_ins.insert(machine.stand_ins.end(), times->begin(), times->end());
    }
    return machine;
}

Json machine_json(const KnownMachine& machine)
{
    Json times = Json::array();
    for (const TimedStandIn& time : machine.stand_ins)
        times.push_back({{"id", time.id}, {"parameters", to_json(time.parameters)}, {"each_s", time.each_s}});
    Json json = {{"bandwidth_bytes_per_s", machine.bandwidth_bytes_per_s}, {"stand_ins", std::move(times)}};
    if (machine.shows_pages) json["shows_pages"] = *machine.shows_pages;
    return json;
}

Result<KnownMachine> parse_known_machine(const Json& json)
{
    std::vector<FieldError> errors;
    ObjectReader reader(json, "machine", errors);
    KnownMachine machine;
    machine.bandwidth_bytes_per_s = reader.optional_number("bandwidth_bytes_per_s", 0, kMaxBandwidth).value_or(0);
    machine.shows_pages = reader.optional_boolean("shows_pages");
    if (reader.has("stand_ins")) {
        const Json* times = reader.array("stand_ins", 0, kMaxTimes);
        for (std::size_t i = 0; times != nullptr && i < times->size(); ++i)
            machine.stand_ins.push_back(
                parse_time((*times)[i], "machine.stand_ins[" + std::to_string(i) + "]", errors));
    }
    reader.finish(UnknownFields::kIgnore);
    return value_or_errors(std::move(machine), std::move(errors), "what is known of the machine");
}

const TimedStandIn* find_time(const std::vector<TimedStandIn>& times, const StandIn& part)
{
    const auto is_of_size = [&](const TimedStandIn& time) {
        return std::all_of(part.parameters.begin(), part.parameters.end(), [&](const auto& asked) {
            const auto found = time.parameters.find(asked.first);
            return found != time.parameters.end() && found->second == asked.second;
        });
    };
    const auto found = std::find_if(times.begin(), times.end(), [&](const TimedStandIn& time) {
        return time.id == part.id && time.each_s > 0 && is_of_size(time);
    });
    return found == times.end() ? nullptr : &*found;
}

} // namespace fathom::profile
