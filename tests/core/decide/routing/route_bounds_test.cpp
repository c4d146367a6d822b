// What a table knows of a place before it looks closely.
#include "tests/core/decide/routing/bounded_unit_types.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

namespace fathom {
namespace {

using test::bounded_unit_type;
using test::data_request;
using test::kMorning;
using test::looked_at;
using test::slower_and_slower;
using test::slower_beside_bubbles_by;
using test::slower_by;
using test::well_divided;

// 990 s of transfer by day and 247.5 s at night. The best sixteen take 1290 s to 1380 s: bound by the best hour, 139
// could be among them.
TEST(RouteBounds, AJobThatMustStartByDayIsNotBoundByTheNight)
{
    const std::vector<UnitTypeView> views = slower_and_slower(200);
    const RouteRequest request = data_request(0.99e11);
    RouteTable table(views);

    const Decision decision = route(request, table);

    ASSERT_TRUE(decision.winner);
    EXPECT_EQ(decision.candidates[*decision.winner].unit_type_id.value, "ut_1000");
    EXPECT_LE(looked_at(request, table), 24);
}

TEST(RouteBounds, ACenterThatKeepsTheDataIsNotBoundByTheirTransfer)
{
    std::vector<UnitTypeView> views = slower_and_slower(200);
    views[150].center_id = CenterId{"ctr_keeps"}; // a run of 1200 s; the best of the others takes 1290 s
    RouteRequest request = data_request(0.99e11);
    request.kept_in_bytes["ctr_keeps"] = 0.99e11;
    RouteTable table(views);

    const Decision decision = route(request, table);

    ASSERT_TRUE(decision.winner);
    EXPECT_EQ(decision.candidates[*decision.winner].unit_type_id.value, "ut_1150");
}

TEST(RouteBounds, WhereAJobCanNeverRunIsFoundAsWithoutTheBound)
{
    std::vector<UnitTypeView> views = slower_and_slower(200);
    for (std::size_t i = 1; i < views.size(); i += 2)
        views[i].availability.take(0, Availability::kForEver, 3);
    RouteRequest request = data_request(0.99e11);
    request.units.count = 2;
    RouteTable table(views);

    const Decision decision = route(request, table);

    // Of the others the best sixteen take up to 990 s + 480 s; the best hour's bound, 247.5 s + 300 s and 6 s more
    // each, lets the first 154 be among them.
    ASSERT_EQ(decision.filter_trace.steps.size(), 1U);
    EXPECT_EQ(decision.filter_trace.steps[0].filter, Filter::kDrain);
    EXPECT_EQ(decision.filter_trace.steps[0].removed, 77);
}

// On the 128 units that the curve knows the slowest takes no longer than the fastest on the four that there are: 75 s.
TEST(RouteBounds, AJobIsNotBoundByCountsOfUnitsThatItCannotHave)
{
    std::vector<UnitTypeView> views = slower_and_slower(200);
    for (UnitTypeView& view : views)
        view.speedups = well_divided();
    RouteRequest request = data_request(0);
    request.units.count.reset();
    RouteTable table(views);

    const Decision decision = route(request, table);

    ASSERT_TRUE(decision.winner);
    EXPECT_EQ(decision.candidates[*decision.winner].unit_type_id.value, "ut_1000");
    EXPECT_EQ(decision.candidates[*decision.winner].unit_count, 4);
    EXPECT_LE(looked_at(request, table), 24);
}

TEST(RouteBounds, NoChoiceIsBetterThanItsBound)
{
    std::mt19937_64 random(5);
    const auto any = [&random](double low, double high) {
        return std::uniform_real_distribution<double>(low, high)(random);
    };
    for (int world = 0; world < 40; ++world) {
        std::vector<UnitTypeView> views;
        std::vector<PastWait> waits;
        for (int i = 0; i < 100; ++i) {
            UnitTypeView& view = views.emplace_back(bounded_unit_type(i, any(0.001, 0.1), any(1e6, 1e9)));
            if (i % 3 > 0) view.availability.take(0, any(0, 80'000), 4);
            if (i % 4 == 0) view.queued_s = any(0, 40'000);
            if (i % 5 == 0) view.trust_factor = any(0.5, 1);
            if (world % 2 == 0) view.loads = i % 2 == 0 ? slower_by(any(0, 1)) : slower_beside_bubbles_by(any(0, 3));
            if (i % 7 < 4) view.held_memory.add({any(0, 2), any(0, 0.1)}, any(0, 4));
            if (i % 8 < 3) {
                view.other_cores = OtherCores{6, Availability(6), {}};
                view.other_cores->free.take(any(0, 1000), any(0, 50'000), 5);
                view.other_cores->memory.add({any(0, 2), any(0, 0.1)}, any(0, 5));
            }
            view.cores_per_unit = 2;
            if (i % 6 == 0) view.availability.take(any(0, 2000), any(0, 9000), 2);
            waits.push_back({view.id.value, i % 2 * any(0, 1000), any(0, 1000)});
        }
        RouteRequest request = data_request(any(1e9, 1e12));
        request.transfer.out_bytes = world % 2 * any(1e9, 1e12);
        RouteKnowledge knowledge;
        if (world % 3 > 0) knowledge.waits = std::make_shared<const WaitHistory>(waits);
        RouteTable table(views, knowledge);
        PlaceChooser chooser(request, knowledge);
        RouteKind& kind = table.impl().kind_of(request, chooser);

        for (std::size_t i = 0; i < views.size(); ++i) {
            ASSERT_TRUE(kind.is_rough_at(i));
            ASSERT_TRUE(RouteTable::Impl::is_quick_at(kind, i));
            const double quick_bound = kind.objective[i];
            table.impl().estimate_roughly(request, chooser, kind, i, RouteTable::Impl::Neighbours::kCounted);
            const double bound = kind.objective[i];
            table.impl().refine(request, chooser, kind, i);
            ASSERT_LE(quick_bound, bound) << world << " " << i;
            ASSERT_LE(bound, kind.objective[i]) << world << " " << i;
        }
    }
}

/// A request of any kind that has rough bounds.
RouteRequest bounded_request(std::mt19937_64& random)
{
    const auto any = [&random](double low, double high) {
        return std::uniform_real_distribution<double>(low, high)(random);
    };
    RouteRequest request = data_request(any(0, 1) < 0.5 ? 0 : any(1e9, 1e12));
    request.operators.push_back({"fft", "n=2", 40, 2e9, 1e8}); // measured nowhere
    request.operators.push_back({"dgemm", "n=1", 700, 1e9, 1e8});
    if (any(0, 1) < 0.5) request.units.count.reset();
    request.units.max = 4;
    if (any(0, 1) < 0.3) request.units.sharing = UnitSharing::kExclusive;
    if (any(0, 1) < 0.3) request.transfer.deadline = kMorning + std::chrono::hours(30);
    const std::array<Preference, 4> preferences{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0.5, 0.3, 0.2}}};
    request.prefer = preferences[static_cast<std::size_t>(any(0, 4))];
    return request;
}

// A new kind computes the bounds of all unit types at once, column by column; of one that has changed by itself.
TEST(RouteBounds, OfAllAtOnceAreThoseOfEachByItself)
{
    std::mt19937_64 random(11);
    const auto any = [&random](double low, double high) {
        return std::uniform_real_distribution<double>(low, high)(random);
    };
    int quick = 0;
    for (int world = 0; world < 60; ++world) {
        std::vector<UnitTypeView> views;
        for (int i = 0; i < 100; ++i) {
            UnitTypeView& view = views.emplace_back(bounded_unit_type(i, any(0.001, 0.1), any(1e6, 1e9)));
            view.operators = {"dgemm", "fft"};
            if (i % 3 == 0) view.availability.take(0, any(0, 80'000), 4);
            if (i % 5 == 0) view.trust_factor = any(0.5, 1);
            if (i % 7 == 0) view.operators = {"dgemm"};
            if (i % 2 == 0) view.units_per_device = 2;
            PriceEntry entry;
            entry.per_unit_hour_micros = 100'000 + i * 1000;
            entry.unit_power_w = i % 4 == 0 ? 0 : 10.0 + i;
            view.price = std::make_shared<const UnitPrice>(entry);
        }
        const RouteRequest request = bounded_request(random);
        RouteTable table(views);
        const RouteKnowledge none;
        PlaceChooser chooser(request, none);
        const RouteKind all = table.impl().kind_of(request, chooser);
        for (std::size_t i = 0; i < views.size(); ++i)
            table.changed(i);

        const RouteKind& each = table.impl().kind_of(request, chooser);

        EXPECT_EQ(each.filter, all.filter);
        for (std::size_t i = 0; i < views.size(); ++i) {
            ASSERT_EQ(each.is_rough_at(i), all.is_rough_at(i));
            if (all.is_rough[i] != RouteKind::kQuick)
                ASSERT_EQ(each.objective[i], all.objective[i]) << world;
            else
                ASSERT_LE(all.objective[i], each.objective[i]) << "without the network's hours, and without powers";
        }
        EXPECT_EQ(each.unknown_parts, all.unknown_parts);
        EXPECT_EQ(each.is_estimated, all.is_estimated);
        EXPECT_EQ(each.start_s, all.start_s);
        EXPECT_EQ(each.completion_s, all.completion_s);
        EXPECT_EQ(each.cost, all.cost);
        EXPECT_LT(std::count(all.is_rough.begin(), all.is_rough.end(), 0), 50);
        quick += all.is_rough[1] == RouteKind::kQuick ? 1 : 0;
    }
    EXPECT_GT(quick, 5);
    EXPECT_LT(quick, 55);
}

} // namespace
} // namespace fathom
