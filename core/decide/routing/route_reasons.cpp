#include "core/decide/routing/route_reasons.hpp"

#include "core/decide/history/run_calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fathom {
namespace {

/// "wait 0 s, run 12 s", and what of it is spent on waiting for the network and on moving data.
std::string parts_text(const Candidate& candidate)
{
    std::string text = "wait " + duration_text(candidate.wait_s);
    if (candidate.plan.window) text += ", window in " + duration_text(candidate.plan.start_s);
    text += ", run " + duration_text(candidate.prediction.run_s);
    const double transfers_s = candidate.plan.in_s + candidate.plan.out_s;
    if (transfers_s > 0) text += " of which transfers " + duration_text(transfers_s);
    constexpr double kWorthSaying = 0.99;
    if (candidate.trust_factor < kWorthSaying && candidate.trust_penalty_s > 0)
        text += "; counted as " + duration_text(candidate.compute_s + candidate.trust_penalty_s) +
                " of computing, for its measurements are not fully trusted";
    constexpr double kWorthSaying_s = 1;
    if (candidate.neighbours.penalty_s >= kWorthSaying_s)
        text += "; counted as " + duration_text(candidate.neighbours.penalty_s) +
                " later, for what it would cost jobs that run there";
    if (candidate.gpu_share.penalty_s >= kWorthSaying_s)
        text += "; counted as " + duration_text(candidate.gpu_share.penalty_s) +
                " later, for those who have parts of the GPU that it would share";
    if (candidate.gpu_room.penalty_s >= kWorthSaying_s)
        text += "; counted as " + duration_text(candidate.gpu_room.penalty_s) +
                " later, for its GPUs have less memory left than earlier runs of the job's type had";
    return text;
}

/// True when a job's run time is not known at all: then only starts were compared.
bool is_run_unknown(const RouteRequest& request, const Candidate& winner)
{
    return request.operators.empty() && !request.transfer.moves_data() && winner.compute_s <= 0;
}

std::string percent_text(double share)
{
    constexpr double kManyTimes = 10;
    return share < kManyTimes ? fmt::format("{:.3g} %", share * 100) : fmt::format("{:.3g} times", share);
}

/// What a job that prefers more than an early end is told of a place.
std::string outcome_text(const Preference& prefer, const Candidate& candidate)
{
    std::string text = "completion " + duration_text(candidate.completion_s);
    if (prefer.cost > 0 || candidate.cost > 0) text += ", cost " + cost_text(candidate.cost, {});
    if (prefer.energy > 0) text += ", energy " + energy_text(candidate.energy_j);
    return text;
}

std::string missing_part_text(const Candidate& candidate, const Candidate& winner)
{
    if (candidate.prediction.unknown_operators > winner.prediction.unknown_operators)
        return "not all of the job's operators are measured there";
    if (candidate.is_power_missing && !winner.is_power_missing) return "what it draws is not known";
    if (candidate.is_run_missing && !winner.is_run_missing) return "nothing is known of the job's run time there";
    return "its network was never measured";
}

std::string reason_for_losing(const RouteRequest& request, const Candidate& candidate, const Candidate& winner)
{
    const bool is_by_start = is_run_unknown(request, winner);
    if (!is_by_start && candidate.unknown_parts() > winner.unknown_parts()) return missing_part_text(candidate, winner);
    if (is_by_start && candidate.wait_s <= winner.wait_s) return "starts no earlier, and is not measured faster";
    if (request.prefer.time < 1) {
        const double worse = candidate.objective / winner.objective - 1;
        const std::string outcome = " (" + outcome_text(request.prefer, candidate) + ")";
        if (std::abs(worse) > kTieFraction)
            return percent_text(worse) + " worse by " + to_string(request.prefer) + outcome;
        return "a tie within 1 % by " + to_string(request.prefer) + outcome;
    }
    const double best_s = winner.judged_s(request.transfer);
    const double lost_s = candidate.judged_s(request.transfer) - best_s;
    if (std::abs(lost_s) <= kTieFraction * best_s) {
        if (candidate.unit_count > winner.unit_count)
            return "as fast, but on " + units_text(candidate.unit_count) + " instead of " +
                   std::to_string(winner.unit_count);
        if (candidate.prediction.estimated_operators > 0 && winner.prediction.estimated_operators == 0)
            return "as fast, but by an estimate";
        return candidate.plan.start_s > winner.plan.start_s ? "as fast, but would start later" : "a tie within 1 %";
    }
    return "would complete " + duration_text(lost_s) + " later (" + parts_text(candidate) + ")";
}

std::string reason_for_winning(const RouteRequest& request, const Candidate& winner)
{
    if (winner.plan.window) {
        const WindowWait& window = *winner.plan.window;
        if (window.is_for_price)
            return "best by " + to_string(request.prefer) + " when it starts at " +
                   moment_text(window.start, request.transfer.now) + ": it costs " + cost_text(window.cost_then, {}) +
                   " then and " + cost_text(window.cost_now, {}) + " now";
        return "its network is best at " + moment_text(window.start, request.transfer.now) + ": transfers take " +
               duration_text(winner.plan.in_s + winner.plan.out_s) + " then and " +
               duration_text(window.transfer_now_s) + " now";
    }
    if (is_run_unknown(request, winner)) return "earliest start; the fastest measured among those";
    if (winner.unknown_parts() > 0) return "best by what is measured";
    if (request.prefer.time < 1)
        return "best by " + to_string(request.prefer) + ": " + outcome_text(request.prefer, winner);
    return "earliest expected completion: " + parts_text(winner);
}

} // namespace

std::string count_reason_of(const ScaledRun& run, const UnitRequest& units, std::int64_t chosen, std::int64_t knee)
{
    if (run.largest_known() <= 1)
        return units.count ? std::string() : units_text(chosen) + ": no scaling curve of its operators is known";
    if (units.count && chosen <= knee)
        return units_text(chosen) + ", as the job asks; the knee of its scaling is at " + std::to_string(knee);
    if (!units.count && chosen == units.min && knee < chosen)
        return units_text(chosen) + ": the least that the job takes; the knee of its scaling is at " +
               std::to_string(knee);
    if (chosen < knee && units.max > chosen)
        return units_text(chosen) + ": more, up to the knee at " + std::to_string(knee) +
               ", would not complete it more than 1 % earlier";
    if (chosen < knee) return units_text(chosen) + ": the most that the job takes";
    const double here_s = run.at(chosen).run_s;
    const std::int64_t twice = 2 * chosen;
    const double gain = 1 - run.at(twice).run_s / std::max(here_s, 1e-9);
    const std::string change = fmt::format("{:.0f} % {}", std::abs(gain) * 100, gain >= 0 ? "faster" : "slower");
    const std::string where = chosen == knee ? "the knee of its scaling: " : "past the knee, as the job wants: ";
    return units_text(chosen) + ", " + where + units_text(twice) + " would be " + change;
}

std::string gpu_memory_obstacle(const GpuMemoryRequest& need, const UnitTypeView& view)
{
    const auto bytes = [](std::int64_t count) { return bytes_text(static_cast<double>(count)); };
    const GpuRoom& gpu = *view.roomiest_gpu(need);
    return "the job needs " + bytes(need.persistent_bytes) + ", and " + bytes(need.temporary_bytes) +
           " within an iteration; of the " + bytes(gpu.capacity_bytes) + " of the GPU with most room others keep " +
           bytes(gpu.persistent_bytes) + ", and " + bytes(gpu.temporary_bytes) +
           " within an iteration: " + bytes(gpu.missing_bytes(need)) + " too little with a gap of " +
           bytes(gpu.gap_bytes);
}

void add_exclusive_reason(Candidate& winner)
{
    std::string text = "sharing: exclusive, so no other job computes on its devices";
    if (winner.whole_devices > 0)
        text = units_text(winner.unit_count) + ", all parts of " +
               (winner.whole_devices == 1 ? "a device" : std::to_string(winner.whole_devices) + " devices") + ": " +
               text;
    winner.count_reason += (winner.count_reason.empty() ? "" : "; ") + text;
}

std::string missed_deadline_reason(const TransferRequest& request, const Candidate& candidate)
{
    const double left_s = Seconds(*request.deadline - request.now).count();
    std::string deadline = format_rfc3339(*request.deadline);
    deadline.erase(19, deadline.size() - 20); // the fraction
    return "would complete " + duration_text(candidate.completion_s - left_s) + " after the deadline " + deadline +
           " (" + parts_text(candidate) + ")";
}

std::string missed_budget_reason(double budget, const Candidate& candidate)
{
    return "would cost " + cost_text(candidate.cost, {}) + ", the budget is " + cost_text(budget, {});
}

void explain_ranking(const RouteRequest& request, std::vector<Candidate>& candidates)
{
    Candidate& winner = candidates.front();
    for (Candidate& candidate : candidates) {
        if (candidate.feasible && &candidate != &winner)
            candidate.reason = reason_for_losing(request, candidate, winner);
    }
    winner.reason = reason_for_winning(request, winner);
}

namespace {

/// Where it is worth a word.
std::string known_factor_text(double factor)
{
    constexpr double kWorthAWord = 0.005;
    if (std::abs(factor - 1) < kWorthAWord) return {};
    return fmt::format(", times {:.2f}, which is what its runs there took of that since", factor);
}

PredictionRung raw_rung(const RouteRequest& request, const Candidate& winner)
{
    if (request.known_run) {
        const KnownRun& known = *request.known_run;
        const bool is_there = known.unit_type == winner.unit_type_id.value;
        return {std::string(to_string(Rung::kReference)), 1,
                "its type's profiled run on " + known.place + ", " + duration_text(known.run_s) + " (" + known.job_id +
                    ")" +
                    (is_there ? std::string() // what its runs there took is a rung of its own
                              : ", each part scaled by the ratio of probes" +
                                    known_factor_text(winner.correction.known_factor))};
    }
    return {std::string(to_string(Rung::kOperators)), 1,
            winner.correction.knows_type
                ? "its operators, with what runs of its type took beside them"
                : "the named operators only: what else the program does is known after the first run of its type"};
}

/// Each text once: jobs have many operators of one kind.
void add_once(std::vector<std::string>& texts, std::string text)
{
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(std::move(text));
}

} // namespace

std::vector<PredictionRung> list_rungs(const RouteRequest& request, const Candidate& winner)
{
    if (request.operators.empty()) {
        if (winner.run_basis.empty()) return {};
        return {{"type", 1, winner.run_basis}};
    }
    std::vector<PredictionRung> rungs{raw_rung(request, winner)};
    const double own = winner.correction.own_share;
    if (own <= 0) return rungs;
    rungs.front().weight = 1 - own;
    const std::int64_t count = winner.correction.job_count;
    rungs.push_back({std::string(to_string(Rung::kRuns)), own,
                     std::to_string(count) + (count == 1 ? " run" : " runs") + " of its type there"});
    if (own > rungs.front().weight) std::swap(rungs.front(), rungs.back());
    return rungs;
}

std::string neighbours_assumption(const NeighbourCost& neighbours)
{
    constexpr double kWorthSaying_s = 1;
    std::string text =
        fmt::format("other jobs are expected to hold {:.3g} cores of its host meanwhile: it takes {:.3g} times as long "
                    "as alone there; its interval reaches from alone to a full host",
                    neighbours.busy_cores, neighbours.factor);
    if (neighbours.penalty_s >= kWorthSaying_s)
        text += fmt::format("; it is expected to keep these jobs {} longer on their units, which counted against "
                            "this place",
                            duration_text(neighbours.slowed_unit_s));
    return text;
}

std::string gpu_share_assumption(const GpuShareCost& cost)
{
    constexpr double kPercent = 100;
    std::string text =
        fmt::format("beside those who have parts of the GPU that it would share it is expected to keep "
                    "{:.3g} % of its speed, {}",
                    kPercent * cost.share,
                    cost.basis == PairSource::kMeasured ? "as measured together"
                                                        : "completed from measured pairs of each with others");
    if (cost.penalty_s > 0)
        return text + "; its run time is that of earlier runs, so this counted against the place as " +
               duration_text(cost.penalty_s);
    return text + fmt::format(": it takes {:.3g} times as long as alone, as long as they are expected to be there",
                              cost.factor);
}

std::string gpu_room_assumption(const GpuRoomCost& cost)
{
    const auto bytes = [](std::int64_t count) { return bytes_text(static_cast<double>(count)); };
    return "earlier runs of its type had up to " + bytes(cost.had.persistent_bytes) + " of a GPU's memory, and " +
           bytes(cost.had.temporary_bytes) + " within an iteration; for as much " + bytes(cost.missing_bytes) +
           " are missing on the GPU with most room, so this counted against the place as " +
           duration_text(cost.penalty_s) + "; it may need less, and starts all the same";
}

namespace {

/// Of a job that names no operators.
void add_unnamed_assumptions(std::vector<std::string>& assumptions, const RouteRequest& request,
                             const Candidate& winner)
{
    assumptions.push_back(winner.run_basis.empty()
                              ? "the job names no operators: its run time is not predicted"
                              : "the job names no operators: its run time is taken from " + winner.run_basis);
    if (!request.units.count)
        assumptions.push_back("unit count: auto gives " + std::to_string(winner.unit_count) +
                              ", the least that the job takes");
}

void add_operator_assumptions(std::vector<std::string>& assumptions, const RouteRequest& request,
                              const OperatorPrediction& one, const std::string& place)
{
    if (one.basis == PredictionBasis::kUnknown)
        add_once(assumptions, one.operator_id + " is not measured on " + place + ": its time is " +
                                  (request.known_run ? "scaled as the rest of the known run" : "left out"));
    if (one.basis == PredictionBasis::kEstimated)
        add_once(assumptions, one.operator_id + " is not measured on " + place +
                                  ": its time is estimated from unit types that are alike");
    if (one.basis == PredictionBasis::kScaled || one.basis == PredictionBasis::kInterpolated)
        add_once(assumptions, one.operator_id + "(" + one.parameters_key + ") is " + std::string(to_string(one.basis)) +
                                  " from other sizes");
}

void add_network_assumption(std::vector<std::string>& assumptions, const RouteRequest& request, const Candidate& winner)
{
    TransferRequest transfer = request.transfer;
    transfer.in_bytes = request.in_bytes_at(winner.center_id);
    if (request.kept_in_bytes.contains(winner.center_id.value))
        assumptions.push_back(winner.center + " still keeps " +
                              bytes_text(request.kept_in_bytes.at(winner.center_id.value)) +
                              " of the inputs, and need not fetch them");
    if (winner.plan.is_network_unknown)
        assumptions.push_back("the network of " + winner.center + " was never measured: the transfer of " +
                              bytes_text(transfer.in_bytes + transfer.out_bytes) + " is left out");
    else if (transfer.moves_data() && winner.plan.basis != WindowBasis::kHourOfWeek)
        assumptions.push_back(
            "the network of " + winner.center + " at its start is known from " +
            (winner.plan.basis == WindowBasis::kHourOfDay ? "this hour of other days" : "other hours"));
}

} // namespace

std::vector<std::string> list_assumptions(const RouteRequest& request, const Candidate& winner)
{
    std::vector<std::string> assumptions;
    const std::string place = winner.center + "/" + winner.unit_type;
    if (request.operators.empty()) add_unnamed_assumptions(assumptions, request, winner);
    const bool is_partial = !request.operators.empty() && !request.takes_operators && !request.known_run;
    if (is_partial && !winner.correction.knows_type && winner.correction.deviation > 0)
        assumptions.emplace_back("the prediction covers the named operators only, until a first run of its type has "
                                 "shown what else the program does");
    for (const OperatorPrediction& one : winner.prediction.operators)
        add_operator_assumptions(assumptions, request, one, place);
    for (const std::string& text : winner.assumptions)
        add_once(assumptions, text);
    const TransferRequest& transfer = request.transfer;
    add_network_assumption(assumptions, request, winner);
    if (winner.is_power_missing) assumptions.push_back("what " + place + " draws is not known: its energy is left out");
    if (transfer.deadline && (is_run_unknown(request, winner) || winner.unknown_parts() > 0))
        assumptions.emplace_back("whether the deadline is met is not known, since not all of its time is predicted");
    return assumptions;
}

} // namespace fathom
