#include "probes/profile/build_profile.hpp"

#include "probes/profile/routine_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace fathom::profile {
namespace {

/// Vector functions are counted call by call; what they compute on is longer.
constexpr std::int64_t kVectorLength = 200'000;

/// The same of entry points that move bytes: programs hand streams their data in whatever pieces.
constexpr std::int64_t kStreamBytes = 2'097'152;

struct Interval {
    std::uint64_t begin;
    std::uint64_t end;
};

/// When each thread that executed operators lived.
std::vector<Interval> thread_lives(const ProfileInput& input)
{
    std::vector<Interval> lives;
    const std::size_t used = std::min<std::size_t>(input.counts->threads_used.load(), kMaxThreads);
    for (std::size_t i = 0; i < used; ++i) {
        const ThreadSlot& slot = input.counts->threads[i];
        if (slot.thread.load() == 0) continue;
        const std::uint64_t begin = std::clamp(slot.first_ticks.load(), input.begin_ticks, input.end_ticks);
        std::uint64_t end = slot.end_ticks.load();
        if (end == 0) end = input.sampler->last_alive(i);
        lives.push_back({begin, std::clamp(end, begin, input.end_ticks)});
    }
    return lives;
}

/// The integral over the run of max(1, threads that have executed an operator and live), in ticks.
double thread_ticks(const ProfileInput& input)
{
    std::vector<std::pair<std::uint64_t, int>> changes;
    for (const Interval& life : thread_lives(input)) {
        changes.emplace_back(life.begin, 1);
        changes.emplace_back(life.end, -1);
    }
    changes.emplace_back(input.end_ticks, 0);
    std::sort(changes.begin(), changes.end());
    double sum = 0;
    int live = 0;
    std::uint64_t at = input.begin_ticks;
    for (const auto& [when, change] : changes) {
        sum += static_cast<double>(when - at) * std::max(1, live);
        live += change;
        at = when;
    }
    return sum;
}

/// Time of calls that never returned: the program ended within them.
std::map<std::uint64_t, double> unfinished_ticks(const ProfileInput& input)
{
    std::map<std::uint64_t, double> ticks;
    const std::size_t used = std::min<std::size_t>(input.counts->threads_used.load(), kMaxThreads);
    for (std::size_t i = 0; i < used; ++i) {
        const ThreadSlot& slot = input.counts->threads[i];
        const std::uint64_t since = slot.since_ticks.load();
        const std::uint64_t end = slot.end_ticks.load() != 0 ? slot.end_ticks.load() : input.sampler->last_alive(i);
        if (since != 0 && end > since) ticks[slot.entry.load()] += static_cast<double>(end - since);
    }
    return ticks;
}

/// Executions of as many bytes each as all calls moved together, at most kStreamBytes.
void set_bytes(std::int64_t bytes, ObservedOperation& operation)
{
    const std::int64_t length = std::min(bytes, kStreamBytes);
    operation.parameters["bytes"] = length;
    operation.bytes = static_cast<double>(length);
    operation.count = (bytes + length / 2) / length;
}

ObservedCalls observed_calls(const SymbolInfo& symbol, std::span<const std::int64_t> dimensions, std::uint64_t count,
                             double seconds)
{
    ObservedCalls calls;
    std::int64_t executions = 1;
    calls.operation = describe_calls(symbol, dimensions, executions);
    calls.is_serial = symbol.action == Action::kFftwExecute || symbol.action == Action::kBytes;
    if (symbol.action == Action::kCall) calls.similarity = product_part(symbol.routine);
    calls.calls = static_cast<std::int64_t>(count);
    calls.batch = executions;
    calls.operation.count = calls.calls * executions;
    calls.seconds = seconds;
    return calls;
}

/// Calls that found no entry: of these only number and time are known.
void read_overflow(const ProfileInput& input, double seconds_a_tick, std::vector<ObservedCalls>& observed)
{
    constexpr std::int64_t kUnknown[kMaxDimensions] = {};
    for (std::size_t i = 0; i < kSymbolCount; ++i) {
        const Overflow& overflow = input.counts->overflow[i];
        // How much went through is not known of those that move bytes: their time is the program's own.
        if (overflow.count.load() == 0 || kSymbols[i].action == Action::kBytes) continue;
        const double ticks = static_cast<double>(overflow.ticks.load());
        ObservedCalls calls = observed_calls(kSymbols[i], kUnknown, overflow.count.load(), ticks * seconds_a_tick);
        calls.operation.operations = calls.operation.bytes = 0;
        calls.operation.parameters.clear();
        observed.push_back(std::move(calls));
    }
}

std::vector<ObservedCalls> read_entries(const ProfileInput& input, double seconds_a_tick)
{
    std::vector<ObservedCalls> observed;
    const std::map<std::uint64_t, double> unfinished = unfinished_ticks(input);
    for (std::size_t i = 0; i < kMaxEntries; ++i) {
        const Entry& entry = input.counts->entries[i];
        if (entry.hash.load(std::memory_order_acquire) <= kEntryGivenUp || entry.symbol >= kSymbolCount) continue;
        const bool has_bytes = kSymbols[entry.symbol].action == Action::kBytes;
        const auto bytes = static_cast<std::int64_t>(entry.bytes.load());
        if (has_bytes && bytes <= 0) continue; // nothing was done: its time is the program's own
        const auto more = unfinished.find(i + 1);
        const double ticks = static_cast<double>(entry.ticks.load()) + (more == unfinished.end() ? 0 : more->second);
        ObservedCalls calls =
            observed_calls(kSymbols[entry.symbol], entry.dimensions, entry.count.load(), ticks * seconds_a_tick);
        calls.entries.push_back(i);
        if (has_bytes) set_bytes(bytes, calls.operation);
        observed.push_back(std::move(calls));
    }
    read_overflow(input, seconds_a_tick, observed);
    return observed;
}

/// Entry points that are one to people are one line: a plan's several execute functions.
std::vector<ObservedCalls> join_same(const std::vector<ObservedCalls>& observed)
{
    std::vector<ObservedCalls> joined;
    std::map<std::tuple<std::string, Parameters, std::int64_t, double>, std::size_t> places;
    for (const ObservedCalls& calls : observed) {
        const ObservedOperation& operation = calls.operation;
        const auto [place, is_new] = places.try_emplace(
            {operation.symbol, operation.parameters, calls.batch, operation.operations}, joined.size());
        if (is_new) {
            joined.push_back(calls);
            continue;
        }
        ObservedCalls& same = joined[place->second];
        same.calls += calls.calls;
        same.operation.count += operation.count;
        same.seconds += calls.seconds;
        same.entries.insert(same.entries.end(), calls.entries.begin(), calls.entries.end());
    }
    return joined;
}

/// What reading the clock twice costs, in ticks: vector functions take not much longer.
double clock_ticks()
{
    std::uint64_t best = UINT64_MAX;
    for (int i = 0; i < 1000; ++i) {
        const std::uint64_t begin = now_ticks();
        best = std::min(best, now_ticks() - begin);
    }
    return static_cast<double>(best);
}

void read_vector_functions(const ProfileInput& input, double seconds_a_tick, std::vector<ObservedCalls>& observed)
{
    const double overhead = clock_ticks();
    for (std::size_t i = 0; i < kVectorFunctionCount; ++i) {
        std::uint64_t count = 0;
        double timed = 0;
        double ticks = 0;
        for (const Shard& shard : input.counts->shards) {
            count += shard.functions[i].calls;
            timed += static_cast<double>(shard.functions[i].timed_calls);
            ticks += static_cast<double>(shard.functions[i].timed_ticks);
        }
        if (count == 0) continue;
        const VectorFunction& function = kVectorFunctions[i];
        const double each = timed > 0 ? std::max(0.0, ticks / timed - overhead) : 0;
        const std::int64_t elements = static_cast<std::int64_t>(count) * function.lanes;
        const std::int64_t length = std::min(elements, kVectorLength);
        ObservedCalls calls;
        calls.calls = static_cast<std::int64_t>(count);
        calls.seconds = each * static_cast<double>(count) * seconds_a_tick;
        calls.is_timed = false;
        calls.operation.symbol = function.name;
        calls.operation.category = "hpc";
        calls.operation.argument_kinds.assign(2, function.element == 's' ? "array_fp32" : "array_fp64");
        calls.operation.parameters["n"] = length;
        calls.operation.operations = 20.0 * static_cast<double>(length);
        calls.operation.bytes = (function.element == 's' ? 8.0 : 16.0) * static_cast<double>(length);
        calls.operation.count = std::max<std::int64_t>(1, (elements + length / 2) / length);
        observed.push_back(std::move(calls));
    }
}

/// Splits what operators do not cover by what was seen from outside.
Remainder split_remainder(const ProfileInput& input, double share)
{
    Remainder remainder;
    const OutsideTime& outside = input.sampler->outside();
    const double seen = outside.running_s + outside.io_s + outside.waiting_s;
    if (share <= 0) return remainder;
    // A program that ended before the first look was running, if anything.
    const double running = seen > 0 ? share * outside.running_s / seen : share;
    remainder.io = seen > 0 ? share * outside.io_s / seen : 0;
    remainder.waiting = std::max(0.0, share - running - remainder.io);
    double memory = -1;
    if (input.bandwidth_bytes_per_s > 0) memory = input.sampler->memory_use().fraction(input.bandwidth_bytes_per_s);
    remainder.method = memory < 0 ? input.sampler->memory_use().why_unknown() : input.sampler->memory_use().method();
    remainder.memory = running * std::max(0.0, memory);
    remainder.compute = running - remainder.memory;
    return remainder;
}

/// Uses of one operator at one size are one.
std::vector<OperatorUse> join_equal(const std::vector<OperatorUse>& uses)
{
    std::vector<OperatorUse> joined;
    std::map<std::string, std::size_t> places;
    for (const OperatorUse& use : uses) {
        const auto [place, is_new] = places.try_emplace(operator_key(use.id, use.parameters), joined.size());
        if (is_new) {
            joined.push_back(use);
            continue;
        }
        OperatorUse& same = joined[place->second];
        same.count += use.count;
        same.share = same.share.value_or(0) + use.share.value_or(0);
    }
    return joined;
}

/// What of the processor time operators cannot have used, over the time that the remainder took.
double parallelism_of(const Profile& profile)
{
    const double outside = profile.remainder.memory + profile.remainder.compute + profile.remainder.io;
    const double inside = std::min(1.0, profile.coverage + profile.missed);
    const auto cores = static_cast<double>(profile.cores);
    // Shares are of the time of several threads where these execute operators themselves.
    const double threads = profile.wall_s > 0 ? std::max(1.0, profile.thread_s / profile.wall_s) : 1;
    const double outside_s = outside * profile.wall_s;
    if (outside_s <= 0) return 1;
    const double left_s = profile.cpu_s - inside * profile.wall_s * std::max(cores, threads);
    return std::clamp(left_s / outside_s, 1.0, std::max(cores, 1.0));
}

void note_what_was_lost(const ProfileInput& input, Profile& profile)
{
    const Counts& counts = *input.counts;
    const auto note = [&](std::string text) { profile.notes.push_back(std::move(text)); };
    if (std::any_of(std::begin(counts.overflow), std::end(counts.overflow),
                    [](const Overflow& overflow) { return overflow.count.load() != 0; }))
        note(fmt::format("more than {} kinds of call: the calls beyond are counted without their sizes", kMaxEntries));
    if (counts.threads_used.load() > kMaxThreads)
        note(fmt::format("more than {} threads executed operators: shares are of the first ones' time", kMaxThreads));
    if (counts.shards_used.load() > kMaxShards)
        note("so many threads used vector functions that their counts are not exact");
    if (counts.lost_lookups.load() != 0)
        note(fmt::format("{} functions that were looked up by name could not be followed", counts.lost_lookups.load()));
    std::set<std::string> missing;
    std::set<pid_t> attached;
    for (std::size_t i = 0; i < std::min<std::size_t>(counts.processes_used.load(), kMaxProcesses); ++i)
        attached.insert(static_cast<pid_t>(counts.processes[i].load()));
    for (const auto& [process, name] : input.sampler->tree().seen()) {
        if (!attached.contains(process)) missing.insert(name);
    }
    if (!missing.empty() && profile.notes.empty())
        note("not counted within (static, with more rights than you, or started with an environment of their own): " +
             std::accumulate(std::next(missing.begin()), missing.end(), *missing.begin(),
                             [](std::string list, const std::string& name) { return std::move(list) + ", " + name; }));
}

void read_flows(const ProfileInput& input, Profile& profile)
{
    std::map<std::size_t, std::size_t> line_of;
    for (std::size_t i = 0; i < profile.lines.size(); ++i) {
        for (const std::size_t entry : profile.lines[i].observed.entries)
            line_of[entry] = i;
    }
    for (const Flow& flow : input.counts->flows) {
        const std::uint64_t key = flow.key.load();
        if (key == 0) continue;
        const auto from = line_of.find((key >> 32U) - 1);
        const auto to = line_of.find((key & 0xffffffffU) - 1);
        if (from == line_of.end() || to == line_of.end() || from->second == to->second) continue;
        profile.flows.push_back({from->second, to->second, static_cast<std::int64_t>(flow.count.load())});
    }
    std::sort(profile.flows.begin(), profile.flows.end(), [](const Profile::Flow& a, const Profile::Flow& b) {
        return std::tie(b.count, a.from, a.to) < std::tie(a.count, b.from, b.to);
    });
}

/// Names the operators that feed each other (M5): where most calls of one read what another has written. The
/// strongest first, and none that would close a circle.
void name_flows(Profile& profile)
{
    constexpr double kMaxOfCalls = 0.5;
    constexpr std::size_t kMaxNamed = 16;
    std::map<std::string, std::size_t> use_of;
    for (std::size_t i = 0; i < profile.operators.size(); ++i)
        use_of[operator_key(profile.operators[i].id, profile.operators[i].parameters)] = i;
    std::vector<OperatorUse> named = profile.operators;
    std::size_t names = 0;
    const auto name = [&](OperatorUse& use) {
        if (use.label.empty()) use.label = "P" + std::to_string(++names);
        return use.label;
    };
    for (const Profile::Flow& flow : profile.flows) {
        const ProfileLine& from = profile.lines[flow.from];
        const ProfileLine& to = profile.lines[flow.to];
        if (static_cast<double>(flow.count) < kMaxOfCalls * static_cast<double>(to.observed.calls)) continue;
        const auto writer = use_of.find(from.use);
        const auto reader = use_of.find(to.use);
        if (writer == use_of.end() || reader == use_of.end() || writer == reader || names + 2 > kMaxNamed) continue;
        std::vector<OperatorUse> tried = named;
        const std::size_t names_before = names;
        const std::string label = name(tried[writer->second]);
        OperatorUse& use = tried[reader->second];
        name(use);
        if (std::find(use.inputs.begin(), use.inputs.end(), label) == use.inputs.end()) use.inputs.push_back(label);
        std::vector<FieldError> errors;
        check_data_flow(tried, "operators", errors);
        if (errors.empty())
            named = std::move(tried);
        else
            names = names_before;
    }
    profile.operators = std::move(named);
}

/// Matches what was observed with the library: a line of the profile each. @return how the operators are used
std::vector<OperatorUse> match_lines(const ProfileInput& input, const std::vector<ObservedCalls>& observed,
                                     const std::vector<OperatorManifest>& library, Profile& profile)
{
    std::vector<ObservedOperation> operations;
    for (const ObservedCalls& calls : observed)
        operations.push_back(calls.operation);
    const MatchReport report = match_operations(operations, library, {.type_categories = input.type_categories});
    std::vector<OperatorUse> uses;
    for (std::size_t i = 0; i < observed.size(); ++i) {
        const OperationMatch& match = report.matches[i];
        profile.lines.push_back({observed[i], match.operator_id, match.score, ""});
        if (match.operator_id.empty()) continue;
        OperatorUse use = match.use;
        use.version = 0; // the newest: the same program may be profiled years later
        use.share = observed[i].operation.share;
        profile.lines.back().use = operator_key(use.id, use.parameters);
        uses.push_back(std::move(use));
    }
    profile.coverage = report.matched_share;
    profile.missed = report.missed_share;
    return uses;
}

} // namespace

Profile build_profile(const ProfileInput& input, const std::vector<OperatorManifest>& library)
{
    Profile profile;
    profile.wall_s = input.wall_s;
    profile.cpu_s = input.cpu_s;
    profile.notes = input.notes;
    const double ticks = static_cast<double>(input.end_ticks - input.begin_ticks);
    const double seconds_a_tick = ticks > 0 ? input.wall_s / ticks : 0;
    std::vector<ObservedCalls> observed = join_same(read_entries(input, seconds_a_tick));
    read_vector_functions(input, seconds_a_tick, observed);
    double operators_s = 0;
    for (const ObservedCalls& calls : observed)
        operators_s += calls.seconds;
    // Threads that came and went between two looks may have done more than was seen of their lives.
    profile.thread_s = std::max(thread_ticks(input) * seconds_a_tick, operators_s);
    for (ObservedCalls& calls : observed)
        calls.operation.share = profile.thread_s > 0 ? calls.seconds / profile.thread_s : 0;
    std::sort(observed.begin(), observed.end(), [](const ObservedCalls& a, const ObservedCalls& b) {
        return std::tie(b.seconds, a.operation.symbol, a.operation.parameters) <
               std::tie(a.seconds, b.operation.symbol, b.operation.parameters);
    });
    const std::vector<OperatorUse> uses = match_lines(input, observed, library, profile);
    profile.remainder = split_remainder(input, std::max(0.0, 1 - profile.coverage - profile.missed));
    profile.own_code = find_own_code(input.sampler->counters(), profile.remainder.memory + profile.remainder.compute,
                                     input.cpu_s, observed, library);
    profile.cores = input.cores;
    profile.parallelism = parallelism_of(profile);
    profile.operators = join_equal(uses);
    note_what_was_lost(input, profile);
    read_flows(input, profile);
    name_flows(profile);
    return profile;
}

} // namespace fathom::profile
