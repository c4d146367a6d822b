// What a table knows of the hour in which a job starts before it looks closely at a place.
#include "core/decide/routing/decision_json.hpp"
#include "core/decide/routing/network_hours.hpp"
#include "core/decide/routing/price_hours.hpp"
#include "tests/core/decide/routing/priced_networks.hpp"
#include "tests/support/plain_route.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace fathom {
namespace {

using test::cheap_from_three_to_four;
using test::data_request;
using test::kMorning;
using test::looked_at;
using test::PricedNetworks;
using test::PricedTable;
using test::slower_and_slower;

// At the cheapest hour all would cost a hundredth, but a job without a deadline starts now, and nobody is in its way.
TEST(HourBounds, KnowThatAJobThatStartsAtOncePaysThePricesOfNow)
{
    std::vector<UnitTypeView> views = slower_and_slower(200);
    for (UnitTypeView& view : views)
        view.price = cheap_from_three_to_four(1'000'000, 10'000);
    for (const Preference& prefer : {Preference{0.5, 0.5, 0}, Preference{0, 1, 0}}) {
        views[0].price = cheap_from_three_to_four(900'000, 10'000);
        RouteRequest request = data_request(0);
        request.prefer = prefer;
        RouteTable table(views);

        const Decision decision = route(request, table);

        ASSERT_TRUE(decision.winner);
        EXPECT_EQ(decision.candidates[*decision.winner].unit_type_id.value, "ut_1000");
        EXPECT_LE(looked_at(request, table), 24);
    }
}

// Until 04:00 the units of the one that is cheap then are taken: it starts in its cheap hour, and the others do not.
TEST(HourBounds, DoNotHideWhoStartsInACheapHour)
{
    std::vector<UnitTypeView> views = slower_and_slower(200);
    for (UnitTypeView& view : views)
        view.price = cheap_from_three_to_four(1'000'000, 900'000);
    views[150].price = cheap_from_three_to_four(1'000'000, 100);
    views[150].availability.take(0, 65'000, 4); // 03:13
    RouteRequest request = data_request(0);
    request.prefer = {0, 1, 0};
    RouteTable table(views);

    const Decision decision = route(request, table);

    ASSERT_TRUE(decision.winner);
    EXPECT_EQ(decision.candidates[*decision.winner].unit_type_id.value, "ut_1150");
}

TEST(HourBounds, NoChoiceIsBetterThanItsBound)
{
    PricedNetworks random(31);
    int bounded = 0;
    int sharper = 0;
    for (int world = 0; world < 80; ++world) {
        PricedTable drawn(random, PricedTable::Limits::kNone);
        auto& [views, knowledge, request, table, chooser, kind] = drawn;
        ASSERT_TRUE(kind.is_exact);
        for (std::size_t i = 0; i < views.size(); ++i) {
            if (!kind.is_rough_at(i)) continue;
            const double quick = kind.objective[i];
            table.impl().estimate_roughly(request, chooser, kind, i, RouteTable::Impl::Neighbours::kCounted);
            if (!kind.is_rough_at(i)) continue;
            const double bound = kind.objective[i];

            table.impl().refine(request, chooser, kind, i);

            if (kind.filter[i] != RouteKind::kStays) continue;
            constexpr double kRounded = 1 + 1e-12;
            ASSERT_LE(quick, kRounded * kind.objective[i]) << world << " " << i;
            ASSERT_LE(bound, kRounded * kind.objective[i]) << world << " " << i;
            ++bounded;
            sharper += bound > 1.01 * quick ? 1 : 0;
        }
    }
    EXPECT_GT(bounded, 3000);
    EXPECT_GT(sharper, bounded / 10);
}

// The winner, its units and its start, while the places fill up.
TEST(HourBounds, DecisionsAreThoseOfAPlainLoop)
{
    PricedNetworks random(37);
    int winners = 0;
    for (int world = 0; world < 40; ++world) {
        std::vector<UnitTypeView> views = random.unit_types(120);
        const RouteKnowledge knowledge = random.knowledge(views);
        RouteTable table(views, knowledge);
        for (int i = 0; i < 6; ++i) {
            const RouteRequest request = random.request_without_limits();

            const Decision decision = route(request, table);

            const auto plain = test::plain_route(request, views, knowledge);
            ASSERT_EQ(decision.winner.has_value(), plain.has_value()) << world << " " << i;
            if (!plain) continue;
            ++winners;
            const Candidate& winner = decision.candidates[*decision.winner];
            ASSERT_EQ(winner.unit_type_id, views[plain->unit_type].id) << world << " " << i;
            ASSERT_EQ(winner.unit_count, plain->choice.unit_count) << world << " " << i;
            ASSERT_EQ(winner.plan.start_s, plain->choice.plan.start_s) << world << " " << i;
            views[plain->unit_type].availability.take(winner.plan.start_s, winner.plan.start_s + winner.held_s(),
                                                      winner.unit_count);
            table.changed(plain->unit_type);
        }
    }
    EXPECT_GT(winners, 200);
}

TEST(PriceHours, AreNoMoreThanWhatARunPaysThatStartsInThem)
{
    PricedNetworks random(41);
    const std::vector<UnitTypeView> views = random.unit_types(100);
    PriceHours hours(views, kMorning);
    hours.make_all(views);
    const auto begin = std::chrono::floor<std::chrono::hours>(kMorning);
    EXPECT_TRUE(hours.is_of(begin + std::chrono::minutes(59)));
    EXPECT_FALSE(hours.is_of(begin + std::chrono::minutes(60)));
    for (std::size_t i = 0; i < views.size(); ++i) {
        for (int draw = 0; draw < 60; ++draw) {
            const auto hour = static_cast<std::size_t>(random.whole(0, 9));
            const Timestamp start = begin + std::chrono::hours(hour) + std::chrono::seconds(random.whole(0, 3599));
            const double run_s = std::exp(random.real(0, std::log(3e6)));
            const double paid = views[i].price == nullptr ? 0 : views[i].price->cost(start, run_s, 1) / run_s;
            constexpr double kRounded = 1 + 1e-9;
            ASSERT_LE(hours.per_s(std::min(hour, PriceHours::kHours - 1))[i], kRounded * paid) << i << " " << run_s;
            ASSERT_LE(hours.per_s_until(hour, i), kRounded * paid) << i << " " << run_s;
        }
    }
}

TEST(NetworkHours, AreThoseOfTheProfiles)
{
    PricedNetworks random(43);
    const std::vector<UnitTypeView> views = random.unit_types(100);
    const UnitTypeList list(views);
    const UnitTypeOrder order(list);
    const NetworkHours hours(list, order, kMorning);
    EXPECT_TRUE(hours.is_of(kMorning));
    EXPECT_FALSE(hours.is_of(kMorning + std::chrono::hours(1)));
    for (std::size_t i = 0; i < views.size(); ++i) {
        if (views[i].network == nullptr) continue;
        for (int draw = 0; draw < 30; ++draw) {
            const Timestamp now = kMorning + std::chrono::seconds(random.whole(0, 2900));
            const double bytes = std::exp(random.real(0, std::log(1e14)));
            const double expected = views[i].network->least_end_s(now, bytes);
            ASSERT_DOUBLE_EQ(hours.least_end_s(order.center_rank()[i], *views[i].network, now, bytes), expected) << i;
        }
    }
}

} // namespace
} // namespace fathom
