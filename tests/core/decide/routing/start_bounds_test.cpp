// What a table knows of the starts of a job with a deadline or budget before it looks closely at a place.
#include "core/decide/routing/decision_json.hpp"
#include "tests/core/decide/routing/bounded_unit_types.hpp"
#include "tests/core/decide/routing/priced_networks.hpp"
#include "tests/support/plain_route.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <random>

namespace fathom {
namespace {

using test::bounded_unit_type;
using test::cheap_from_three_to_four;
using test::data_request;
using test::kMorning;
using test::looked_at;
using test::PricedNetworks;
using test::PricedTable;
using test::slower_and_slower;
using test::well_divided;
using namespace std::chrono_literals;

/// The same request, of a kind that has no bounds by start: who shares a GPU that is nowhere changes nothing else.
RouteRequest without_start_bounds(RouteRequest request)
{
    request.gpu_shares["ut_nowhere"] = {.share = 0.5, .spread = 0.1, .until_s = 100};
    return request;
}

// At once the job costs 1.00 an hour, and a hundredth of that at night. The best takes √(300 s · price of now); of all
// 200 the cheapest hour, without the wait for it, says less than half of that.
TEST(StartBounds, KnowThatTheCheapestHourIsYetToCome)
{
    std::vector<UnitTypeView> views = slower_and_slower(200);
    for (UnitTypeView& view : views)
        view.price = cheap_from_three_to_four(1'000'000, 10'000);
    RouteRequest request = data_request(0);
    request.prefer = {0.5, 0.5, 0};
    request.transfer.deadline = kMorning + 30h;
    RouteTable table(views);

    const Decision decision = route(request, table);

    ASSERT_TRUE(decision.winner);
    EXPECT_EQ(decision.candidates[*decision.winner].unit_type_id.value, "ut_1000");
    EXPECT_LE(looked_at(request, table), 12);
    route(without_start_bounds(request), table);
    // The eighth of those that are looked at in any case takes √(342 · 342); from 11:00 on, the first moment of which
    // the hour is not known, 193 might take less: the slowest of these √((6600 + 1452) · 14.52).
    EXPECT_EQ(looked_at(without_start_bounds(request), table), 193);
}

// Of one the hour from 03:00 on is as good as free: √(65 400 s · 0.0001) = 2.6, at once the best has √(300 s · 0.083)
// = 5.
TEST(StartBounds, DoNotHideAStartThatIsWorthItsWait)
{
    std::vector<UnitTypeView> views = slower_and_slower(200);
    for (UnitTypeView& view : views)
        view.price = cheap_from_three_to_four(1'000'000, 900'000);
    views[150].price = cheap_from_three_to_four(1'000'000, 100);
    RouteRequest request = data_request(0);
    request.prefer = {0.5, 0.5, 0};
    request.transfer.deadline = kMorning + 30h;
    RouteTable table(views);

    const Decision decision = route(request, table);

    ASSERT_TRUE(decision.winner);
    const Candidate& winner = decision.candidates[*decision.winner];
    EXPECT_EQ(winner.unit_type_id.value, "ut_1150");
    ASSERT_TRUE(winner.plan.window);
    EXPECT_EQ(winner.plan.window->start, parse_rfc3339("2026-11-19T03:00:00Z").value());
}

// Those who were placed beside it in the same cycle make its runs longer than most_limited() knows.
TEST(StartBounds, AreOnlyForJobsThatNobodyOnTheirGpuCanDelay)
{
    const std::vector<UnitTypeView> views = slower_and_slower(100);
    const RouteKnowledge none;
    RouteTable table(views);
    const auto can_bound = [&](const RouteRequest& request) {
        PlaceChooser chooser(request, none);
        const RouteKind& kind = table.impl().kind_of(request, chooser);
        return table.impl().can_bound_starts(request, kind, 0);
    };
    RouteRequest request = data_request(0);
    request.transfer.deadline = kMorning + 30h;
    request.budget = 1;
    RouteRequest of_a_kind = request;
    of_a_kind.gpu_kind = "solver";
    RouteRequest with_learned_memory = request;
    with_learned_memory.learned_gpu_memory.persistent_bytes = 1'000'000'000;

    EXPECT_TRUE(can_bound(request));
    EXPECT_FALSE(can_bound(of_a_kind));
    EXPECT_FALSE(can_bound(with_learned_memory));
    EXPECT_FALSE(can_bound(without_start_bounds(request)));
}

/// On 2 500 units 1.4 · 10⁶ s of 10⁹ s on one, 160 s less with each unit more.
std::shared_ptr<const UnitSpeedups> divided_among_thousands()
{
    std::vector<ScalingPoint> points;
    for (const double n : {1, 16, 256, 2048})
        points.push_back({n, n / (1 + 0.001 * n)});
    return std::make_shared<const UnitSpeedups>(UnitSpeedups{
        std::make_shared<OperatorSpeedup>("dgemm", "n=1", 1e9, fit_scaling(points, ScalingMode::kStrong).value())});
}

// Of 2500 to 2503 units choices weigh 2500 and 2502: that 2503 would end in time says nothing.
TEST(StartBounds, LimitsAreKeptByCountsThatAChoiceWeighs)
{
    std::vector<UnitTypeView> views = slower_and_slower(100);
    for (UnitTypeView& view : views) {
        view.unit_count = 3000;
        view.availability = Availability(3000);
        view.speedups = divided_among_thousands();
    }
    RouteRequest request = data_request(0);
    request.operators[0].count = 100'000'000'000;
    request.units.count.reset();
    request.units.min = 2500;
    request.units.max = 2503;
    request.units.ignore_knee = true;
    request.transfer.deadline = kMorning + 30h;
    const RouteKnowledge none;
    RouteTable table(views);
    PlaceChooser chooser(request, none);
    RouteKind& kind = table.impl().kind_of(request, chooser);
    ASSERT_TRUE(kind.is_rough_at(0) && table.impl().can_bound_starts(request, kind, 0));

    table.impl().bound_starts(request, chooser, kind, 0);

    const RouteKind::MostLimited most = kind.by_start.back();
    table.impl().refine(request, chooser, kind, 0);
    EXPECT_LE(kind.completion_s[0], most.completion_s);
    EXPECT_LT(most.completion_s, Availability::kForEver);
}

TEST(StartBounds, NoChoiceIsBetterThanItsBoundNorBeyondItsLimits)
{
    PricedNetworks random(23);
    int quick_ones = 0;
    int bounded = 0;
    int sharper = 0;
    int limited = 0;
    for (int world = 0; world < 60; ++world) {
        PricedTable drawn(random, PricedTable::Limits::kDrawn);
        auto& [views, knowledge, request, table, chooser, kind] = drawn;
        if (kind.is_exact) continue;
        for (std::size_t i = 0; i < views.size(); ++i) {
            if (RouteTable::Impl::is_quick_at(kind, i)) {
                const double quick = kind.objective[i];
                table.impl().estimate_roughly(request, chooser, kind, i, RouteTable::Impl::Neighbours::kLeftOut);
                ASSERT_LE(quick, kind.objective[i]) << world << " " << i;
                ASSERT_FALSE(RouteTable::Impl::is_quick_at(kind, i));
                ++quick_ones;
            }
            if (!kind.is_rough_at(i) || !table.impl().can_bound_starts(request, kind, i)) continue;
            const double rough = kind.objective[i];
            table.impl().bound_starts(request, chooser, kind, i);
            ASSERT_TRUE(kind.is_by_start_at(i));
            const double bound = kind.objective[i];
            const RouteKind::MostLimited most = kind.by_start.back();
            ASSERT_EQ(most.unit_type, i);
            const std::array rough_limits{kind.completion_s[i], kind.cost[i]};

            table.impl().refine(request, chooser, kind, i);

            ASSERT_EQ(kind.filter[i], RouteKind::kStays) << "what can never run has no such bound";
            ASSERT_LE(rough, bound) << world << " " << i;
            // All are by 1e-9 below what a choice has, and rounded apart. The close bound of the cost leaves transfers
            // out, which the rough one has, and is none where there is no budget.
            constexpr double kRounded = 1 + 1e-12;
            ASSERT_LE(bound, kRounded * kind.objective[i]) << world << " " << i;
            ASSERT_LE(rough_limits[0], kRounded * kind.completion_s[i]) << world << " " << i;
            if (request.budget && !request.transfer.moves_data()) {
                ASSERT_LE(rough_limits[1], kRounded * kind.cost[i]) << world << " " << i;
            }
            ASSERT_LE(kind.completion_s[i], most.completion_s) << world << " " << i;
            ASSERT_LE(kind.cost[i], most.cost) << world << " " << i;
            ++bounded;
            sharper += bound > 1.01 * rough ? 1 : 0;
            limited += most.completion_s < Availability::kForEver ? 1 : 0;
        }
    }
    EXPECT_GT(quick_ones, 500);
    EXPECT_GT(bounded, 1000);
    EXPECT_GT(sharper, bounded / 4);
    EXPECT_GT(limited, bounded / 2);
}

/// To the last bit: the winner, all places that are shown, and what filters remove.
TEST(StartBounds, DecisionsAreThoseWithoutThem)
{
    PricedNetworks random(29);
    int by_start = 0;
    int winners = 0;
    for (int world = 0; world < 40; ++world) {
        std::vector<UnitTypeView> views = random.unit_types(120);
        const RouteKnowledge knowledge = random.knowledge(views);
        RouteTable table(views, knowledge);
        RouteTable other(views, knowledge);
        const std::array kinds{random.request(), random.request()};
        for (int i = 0; i < 10; ++i) {
            RouteRequest request = kinds[static_cast<std::size_t>(random.whole(0, 1))];
            random.set_limits(request);
            if (random.chance(0.3)) {
                const BriefDecision brief = route_briefly(request, table);
                const BriefDecision expected = route_briefly(without_start_bounds(request), other);
                ASSERT_EQ(to_json(brief.decision, "EUR"), to_json(expected.decision, "EUR")) << world << " " << i;
                continue;
            }

            const Decision decision = route(request, table);

            const Decision expected = route(without_start_bounds(request), other);
            ASSERT_EQ(to_json(decision, "EUR"), to_json(expected, "EUR")) << world << " " << i;
            const auto plain = test::plain_route(request, views, knowledge);
            ASSERT_EQ(decision.winner.has_value(), plain.has_value()) << world << " " << i;
            PlaceChooser chooser(request, knowledge);
            by_start += table.impl().kind_of(request, chooser).by_start.empty() ? 0 : 1;
            if (!plain) continue;
            ++winners;
            const Candidate& winner = decision.candidates[*decision.winner];
            ASSERT_EQ(winner.unit_type_id, views[plain->unit_type].id) << world << " " << i;
            ASSERT_EQ(winner.unit_count, plain->choice.unit_count) << world << " " << i;
            ASSERT_EQ(winner.plan.start_s, plain->choice.plan.start_s) << world << " " << i;
            views[plain->unit_type].availability.take(winner.plan.start_s, winner.plan.start_s + winner.held_s(),
                                                      winner.unit_count);
            table.changed(plain->unit_type);
            other.changed(plain->unit_type);
            if (!random.chance(0.1)) continue;
            table.begin_batch();
            other.begin_batch();
        }
    }
    EXPECT_GT(by_start, 80);
    EXPECT_GT(winners, 100);
}

} // namespace
} // namespace fathom
