// What every decision keeps to, and that a table decides as a plain loop does.
#include "core/decide/routing/route.hpp"
#include "tests/support/plain_route.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace fathom {
namespace {

using namespace std::chrono_literals;

const Timestamp kNow = parse_rfc3339("2026-11-18T09:10:00Z").value();

std::shared_ptr<const UnitSpeedups> speedups(double serial)
{
    std::vector<ScalingPoint> points;
    for (const double n : {1, 2, 4, 8})
        points.push_back({n, 1 / (serial + (1 - serial) / n)});
    return std::make_shared<const UnitSpeedups>(UnitSpeedups{
        std::make_shared<OperatorSpeedup>("dgemm", "n=1", 1e9, fit_scaling(points, ScalingMode::kStrong).value())});
}

MeasuredOperator measured(const std::string& id, double median_s)
{
    MeasuredOperator one;
    one.operator_id = id;
    one.parameters_key = "n=1";
    one.operations = 1e9;
    one.median_s = median_s;
    one.ci_low_s = median_s * 0.95;
    one.ci_high_s = median_s * 1.05;
    return one;
}

std::shared_ptr<const UnitPrice> any_price()
{
    PriceEntry entry;
    entry.per_unit_hour_micros = *rc::gen::inRange(0, 40) * 100'000;
    if (*rc::gen::inRange(0, 2) == 1) entry.bands = {{{}, 0, 6, *rc::gen::inRange(0, 40) * 100'000}};
    entry.unit_power_w = *rc::gen::inRange(0, 3) * 100;
    return std::make_shared<const UnitPrice>(entry);
}

std::shared_ptr<const NetworkProfile> any_network()
{
    NetworkProfile::Known known{};
    const double level = *rc::gen::inRange(1, 20) * 1e7;
    for (std::size_t hour = 0; hour < known.hours.size(); ++hour)
        known.hours[hour] = {3, hour % 24 < 6 ? 4 * level : level, 0.1};
    known.overall = {504, level, 0.2};
    return std::make_shared<const NetworkProfile>(NetworkProfile::from(known));
}

UnitTypeView any_unit_type(int number, const std::vector<std::shared_ptr<const UnitSpeedups>>& curves)
{
    UnitTypeView view;
    view.id = UnitTypeId{"ut_" + std::to_string(100 + number)};
    view.name = "type" + std::to_string(number % 2);
    view.center_id = CenterId{"ctr_" + std::to_string(number / 2)};
    view.center_name = "center" + std::to_string(number / 2);
    view.resource_type = *rc::gen::inRange(0, 3) == 0 ? "gpu" : "cpu";
    view.operators = {"dgemm", "fft1d"};
    if (*rc::gen::inRange(0, 8) == 0) view.operators = {"dgemm"};
    view.unit_count = *rc::gen::inRange(1, 12);
    view.availability = Availability(view.unit_count);
    for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
        const double from_s = *rc::gen::inRange(-100, 500);
        view.availability.take(from_s, from_s + *rc::gen::inRange(1, 3000),
                               *rc::gen::inRange<std::int64_t>(1, view.unit_count + 1));
    }
    if (*rc::gen::inRange(0, 5) > 0) view.measured.push_back(measured("dgemm", *rc::gen::inRange(1, 30) / 100.0));
    if (*rc::gen::inRange(0, 5) > 0) view.measured.push_back(measured("fft1d", *rc::gen::inRange(1, 30) / 100.0));
    if (*rc::gen::inRange(0, 3) > 0) view.speedups = curves[*rc::gen::inRange<std::size_t>(0, curves.size())];
    if (*rc::gen::inRange(0, 3) > 0) view.network = any_network();
    if (*rc::gen::inRange(0, 5) > 0) view.price = any_price();
    if (*rc::gen::inRange(0, 3) == 0) view.trust_factor = *rc::gen::inRange(50, 101) / 100.0;
    if (*rc::gen::inRange(0, 8) == 0) view.closed_reason = "the center is drained";
    if (*rc::gen::inRange(0, 6) == 0) view.holds.push_back({"other", 0, 1000, 1});
    view.queued_s = *rc::gen::inRange(0, 5) == 0 ? 60 : 0;
    constexpr std::int64_t kGigabyte = std::int64_t{1} << 30;
    if (*rc::gen::inRange(0, 3) == 0)
        view.gpu_rooms.push_back({32 * kGigabyte, *rc::gen::inRange(0, 33) * kGigabyte, 0, 0});
    return view;
}

std::vector<UnitTypeView> any_unit_types(int most)
{
    static const std::vector<std::shared_ptr<const UnitSpeedups>> curves{speedups(0.02), speedups(0.2), speedups(0.6)};
    std::vector<UnitTypeView> views;
    const int size = *rc::gen::inRange(1, most + 1);
    for (int i = 0; i < size; ++i)
        views.push_back(any_unit_type(i, curves));
    return views;
}

RouteRequest any_request()
{
    RouteRequest request;
    request.project = "own";
    const bool is_unknown = *rc::gen::inRange(0, 8) == 0;
    if (!is_unknown) request.operators = {{"dgemm", "n=1", *rc::gen::inRange(1, 5000), 1e9, 1e8}};
    if (!is_unknown && *rc::gen::inRange(0, 2) == 1)
        request.operators.push_back({"fft1d", "n=1", *rc::gen::inRange(1, 5000), 1e9, 1e8});
    if (*rc::gen::inRange(0, 3) == 0) request.units.count = *rc::gen::inRange(1, 9);
    request.units.min = *rc::gen::inRange(1, 3);
    request.transfer.now = kNow;
    if (*rc::gen::inRange(0, 2) == 1) request.transfer.deadline = kNow + *rc::gen::inRange(1, 3000) * 1min;
    if (*rc::gen::inRange(0, 3) == 0) request.transfer.in_bytes = *rc::gen::inRange(1, 1000) * 1e9;
    if (*rc::gen::inRange(0, 2) == 0)
        request.kept_in_bytes["ctr_" + std::to_string(*rc::gen::inRange(0, 10))] =
            request.transfer.in_bytes * *rc::gen::inRange(1, 11) / 10;
    for (int i = *rc::gen::inRange(0, 4); i > 0; --i)
        request.gpu_shares["ut_" + std::to_string(*rc::gen::inRange(100, 110))] = {
            .share = *rc::gen::inRange(10, 101) / 100.0, .spread = 0.1, .until_s = *rc::gen::inRange(0, 3000) * 1.0};
    if (*rc::gen::inRange(0, 2) == 0)
        request.learned_gpu_memory = {*rc::gen::inRange(0, 40) * (std::int64_t{1} << 30), 0};
    if (*rc::gen::inRange(0, 3) == 0) request.budget = *rc::gen::inRange(0, 100) / 10.0;
    const int time = *rc::gen::inRange(0, 3);
    if (time == 1) request.prefer = {0.5, 0.5, 0};
    if (time == 2) request.prefer = *rc::gen::inRange(0, 2) == 0 ? Preference{0, 1, 0} : Preference{0.2, 0.2, 0.6};
    return request;
}

/// What a few runs of the job type, and a few starts, have taught.
RouteKnowledge any_knowledge(std::span<const UnitTypeView> views)
{
    std::vector<PastRun> runs;
    std::vector<PastWait> waits;
    const auto any_id = [&] { return views[*rc::gen::inRange<std::size_t>(0, views.size())].id.value; };
    for (int i = *rc::gen::inRange(0, 30); i > 0; --i) {
        PastRun run;
        run.job_type = *rc::gen::inRange(0, 4) == 0 ? "other" : "solver";
        run.unit_type = any_id();
        run.raw_s = 100;
        run.raw_low_s = 90;
        run.raw_high_s = 110;
        run.actual_s = *rc::gen::inRange(20, 300);
        run.ended_at = kNow - 1h;
        runs.push_back(std::move(run));
    }
    for (int i = *rc::gen::inRange(0, 30); i > 0; --i)
        waits.push_back({any_id(), *rc::gen::inRange(0, 2) * 100.0, *rc::gen::inRange(0, 300) * 1.0});
    RouteKnowledge knowledge;
    if (!runs.empty()) knowledge.runs = std::make_shared<const RunHistory>(runs, kNow);
    if (!waits.empty()) knowledge.waits = std::make_shared<const WaitHistory>(waits);
    return knowledge;
}

const Candidate* winner_of(const Decision& decision)
{
    return decision.winner ? &decision.candidates[*decision.winner] : nullptr;
}

UnitTypeView& view_of(std::vector<UnitTypeView>& views, const Candidate& candidate)
{
    return *std::find_if(views.begin(), views.end(),
                         [&](const UnitTypeView& view) { return view.id == candidate.unit_type_id; });
}

/// To those of another job of its kind.
void change_limits(RouteRequest& request)
{
    if (request.transfer.deadline) request.transfer.deadline = kNow + *rc::gen::inRange(1, 3000) * 1min;
    if (request.budget) request.budget = *rc::gen::inRange(0, 100) / 10.0;
}

RC_GTEST_PROP(RouteTableProperty, DecidesAsAPlainLoopDoes, ())
{
    std::vector<UnitTypeView> views = any_unit_types(200);
    RouteKnowledge knowledge = any_knowledge(views);
    std::vector<RouteRequest> kinds;
    for (int i = 0; i < 3; ++i) {
        kinds.push_back(any_request());
        kinds.back().job_type = "solver";
        if (kinds.back().operators.empty()) knowledge.runs.reset(); // of such jobs the plain loop knows no history
    }
    RouteTable table(views, knowledge);
    for (int i = 0; i < 12; ++i) {
        RouteRequest request = kinds[*rc::gen::inRange<std::size_t>(0, kinds.size())];
        change_limits(request);
        const auto plain = test::plain_route(request, views, knowledge);

        const Decision decision = route(request, table);

        const Candidate* winner = winner_of(decision);
        RC_ASSERT((winner != nullptr) == plain.has_value());
        if (winner == nullptr) continue;
        RC_ASSERT(winner->unit_type_id == views[plain->unit_type].id);
        RC_ASSERT(winner->unit_count == plain->choice.unit_count);
        RC_ASSERT(winner->plan.start_s == plain->choice.plan.start_s);
        UnitTypeView& view = view_of(views, *winner);
        view.availability.take(winner->plan.start_s, winner->plan.start_s + winner->held_s(), winner->unit_count);
        table.changed(static_cast<std::size_t>(&view - views.data()));
    }
}

/// All that is compared of places, in their order.
std::vector<std::vector<double>> figures_of(const OfferedPlaces& offered)
{
    std::vector<std::vector<double>> places{{offered.wants_units ? 1.0 : 0.0, offered.leaves_out_devices ? 1.0 : 0.0}};
    for (const OfferedPlaces::Place& place : offered.places) {
        places.push_back({static_cast<double>(place.unit_type)});
        for (const CountOffer& one : place.offers)
            places.back().insert(places.back().end(),
                                 {static_cast<double>(one.unit_count), one.run_s, one.beyond_s, one.objective});
    }
    return places;
}

RC_GTEST_PROP(RouteTableProperty, ABriefDecisionOnAUsedTableIsTheWholeOneOnANewTable, ())
{
    const std::vector<UnitTypeView> views = any_unit_types(*rc::gen::inRange(2, 100));
    const RouteKnowledge knowledge = any_knowledge(views);
    RouteRequest request = any_request();
    request.job_type = "solver";
    request.follows_gpu_threshold = *rc::gen::inRange(0, 2) == 1;
    request.gpu_threshold = *rc::gen::element(1.0, 2.0);
    RouteTable used(views, knowledge);
    for (int i = 0; i < 8; ++i) {
        change_limits(request);
        RouteTable anew(views, knowledge);

        const BriefDecision brief = route_briefly(request, used);

        const Decision whole = route(request, anew);
        const Candidate* winner = winner_of(whole);
        RC_ASSERT(figures_of(brief.offered) == figures_of(offered_places(request, anew)));
        RC_ASSERT(brief.decision.can_start_now == whole.can_start_now);
        RC_ASSERT(brief.decision.winner.has_value() == (winner != nullptr));
        if (winner == nullptr) {
            RC_ASSERT(brief.decision.candidates.size() == whole.candidates.size());
            continue;
        }
        const Candidate& own = *winner_of(brief.decision);
        RC_ASSERT(own.unit_type_id == winner->unit_type_id);
        RC_ASSERT(own.unit_count == winner->unit_count);
        RC_ASSERT(own.plan.start_s == winner->plan.start_s);
        RC_ASSERT(own.completion_s == winner->completion_s);
        RC_ASSERT(own.prediction.high_s == winner->prediction.high_s);
        RC_ASSERT(own.cost == winner->cost);
        RC_ASSERT(own.objective == winner->objective);
    }
}

/// S6 with its threshold, where a center has both CPUs and GPUs.
RC_GTEST_PROP(RouteTableProperty, TheGpuThresholdMakesNoJobEndLaterThanItSays, ())
{
    const std::vector<UnitTypeView> views = any_unit_types(*rc::gen::inRange(2, 100));
    const RouteKnowledge knowledge = any_knowledge(views);
    RouteRequest request = any_request();
    request.job_type = "solver";
    const Decision without = route(request, views, knowledge);
    request.follows_gpu_threshold = true;
    request.gpu_threshold = *rc::gen::element(1.0, 1.0, 1.5, 4.0);

    const Decision decision = route(request, views, knowledge);

    RC_ASSERT(decision.winner.has_value() == without.winner.has_value());
    if (!decision.winner) return;
    const Candidate& is = *winner_of(decision);
    const Candidate& was = *winner_of(without);
    RC_ASSERT(is.unknown_parts() <= was.unknown_parts());
    RC_ASSERT(is.completion_s <= request.gpu_threshold * was.completion_s);
    RC_ASSERT(is.objective <= request.gpu_threshold * was.objective);
    std::int64_t removed = 0;
    for (const FilterStep& step : decision.filter_trace.steps)
        removed += step.removed;
    RC_ASSERT(decision.filter_trace.left + removed == decision.filter_trace.candidates);
    for (const Candidate& one : decision.candidates)
        RC_ASSERT(one.feasible == !one.removed_by.has_value() && !one.reason.empty());
}

RC_GTEST_PROP(RouteTableProperty, NeverPastADeadlineOrABudget, ())
{
    const std::vector<UnitTypeView> views = any_unit_types(40);
    const RouteRequest request = any_request();

    const Decision decision = route(request, views);

    const Candidate* winner = winner_of(decision);
    if (winner == nullptr) return;
    if (request.transfer.deadline)
        RC_ASSERT(winner->completion_s <= Seconds(*request.transfer.deadline - kNow).count());
    RC_ASSERT(winner->cost <= budget_limit(request.budget));
}

/// Job after job: at no moment more units are taken than there are.
RC_GTEST_PROP(RouteTableProperty, NeverSellsAUnitTwice, ())
{
    std::vector<UnitTypeView> views = any_unit_types(6);
    for (UnitTypeView& view : views)
        view.availability = Availability(view.unit_count);
    RouteTable table(views);
    for (int i = 0; i < 30; ++i) {
        RouteRequest request = any_request();
        request.transfer.deadline.reset();
        const Decision decision = route(request, table);
        const Candidate* winner = winner_of(decision);
        if (winner == nullptr) continue;
        UnitTypeView& view = view_of(views, *winner);
        view.availability.take(winner->plan.start_s, winner->plan.start_s + winner->held_s(), winner->unit_count);
        table.changed(static_cast<std::size_t>(&view - views.data()));
        for (const Availability::Step& step : view.availability.steps())
            RC_ASSERT(step.free >= 0);
    }
}

RC_GTEST_PROP(RouteTableProperty, TheFilterTraceAddsUp, ())
{
    const std::vector<UnitTypeView> views = any_unit_types(100);

    const Decision decision = route(any_request(), views);

    std::int64_t removed = 0;
    for (const FilterStep& step : decision.filter_trace.steps) {
        removed += step.removed;
        std::int64_t at_centers = 0;
        for (const TracedCenter& center : step.centers)
            at_centers += center.removed;
        RC_ASSERT(at_centers <= step.removed);
    }
    RC_ASSERT(decision.filter_trace.candidates == static_cast<std::int64_t>(views.size()));
    RC_ASSERT(decision.filter_trace.left + removed == decision.filter_trace.candidates);
    RC_ASSERT(decision.candidates.size() <= std::max(kMaxCandidatesKept, std::size_t{1}));
}

RC_GTEST_PROP(RouteTableProperty, ALowerPriceNeverMakesTheWinnerLose, ())
{
    std::vector<UnitTypeView> views = any_unit_types(12);
    RouteRequest request = any_request();
    request.units.count = 1; // with several counts a lower price may change the count
    const Decision before = route(request, views);
    if (!before.winner) return;
    const Candidate winner = *winner_of(before);
    UnitTypeView& view = view_of(views, winner);
    if (view.price == nullptr || !view.price->is_flat()) return;
    PriceEntry lower;
    lower.per_unit_hour_micros = static_cast<std::int64_t>(view.price->per_hour()[0] * 1e6) / 2;
    lower.unit_power_w = view.price->unit_power_w();
    view.price = std::make_shared<const UnitPrice>(lower);

    RC_ASSERT(winner_of(route(request, views))->unit_type_id == winner.unit_type_id);
}

RC_GTEST_PROP(RouteTableProperty, AFurtherCandidateNeverMakesItWorse, ())
{
    std::vector<UnitTypeView> views = any_unit_types(12);
    const RouteRequest request = any_request();
    const UnitTypeView last = views.back();
    views.pop_back();
    const Decision before = route(request, views);
    views.push_back(last);

    const Decision after = route(request, views);

    if (!before.winner || request.operators.empty()) return; // of unknown jobs only starts are compared
    RC_ASSERT(after.winner.has_value());
    const Candidate& was = *winner_of(before);
    const Candidate& is = *winner_of(after);
    const bool knows_more = is.unknown_parts() < was.unknown_parts();
    RC_ASSERT(knows_more || is.objective <= was.objective * 1.0100001);
}

} // namespace
} // namespace fathom
