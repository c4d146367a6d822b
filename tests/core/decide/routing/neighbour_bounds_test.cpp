// What a table knows of the neighbours at a place before it looks closely.
#include "tests/core/decide/routing/bounded_unit_types.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cmath>
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

/// Of networks whose hosts are half taken, each place with a curve of what neighbours cost: choices that were made.
std::ptrdiff_t looked_at_beside_neighbours(const RouteRequest& request, double busy_s)
{
    std::vector<UnitTypeView> views = slower_and_slower(200);
    for (std::size_t i = 0; i < views.size(); ++i) {
        views[i].cores_per_unit = 1;
        views[i].loads = slower_by(std::log(i % 2 == 0 ? 2.5 : 2));
        views[i].availability.take(0, busy_s, 2);
        PriceEntry entry;
        entry.per_unit_hour_micros = 100'000;
        views[i].price = std::make_shared<const UnitPrice>(entry);
    }
    RouteTable table(views);
    const Decision decision = route(request, table);
    EXPECT_TRUE(decision.winner);
    if (decision.winner) EXPECT_EQ(decision.candidates[*decision.winner].unit_type_id.value, "ut_1001");
    return looked_at(request, table);
}

// A run of 300 s and 6 s more each takes e^(2/3 ln 2) = 1.59 or 1.84 times as long, the best 486 s, the best sixteen up
// to 665 s. Alone 61 take no longer than that, and 31 no longer than the best.
TEST(NeighbourBounds, KnowWhatNeighboursCostAtLeast)
{
    RouteRequest request = data_request(0);
    EXPECT_LE(looked_at_beside_neighbours(request, 1e6), 24) << "they stay";
    EXPECT_LE(looked_at_beside_neighbours(request, 2e4), 24) << "they stay longer than anybody runs";

    request.transfer.deadline = kMorning + std::chrono::hours(30);
    request.budget = 1000; // it may wait for a price: then bounds are of another kind
    request.units.count.reset();
    request.units.max = 2;
    EXPECT_LE(looked_at_beside_neighbours(request, 1e6), 24) << "of a job with limits";
}

TEST(NeighbourBounds, WhereAJobCanNeverRunIsFoundAsWithoutItsNeighbours)
{
    std::vector<UnitTypeView> views = slower_and_slower(200);
    for (std::size_t i = 0; i < views.size(); ++i) {
        views[i].cores_per_unit = 1;
        views[i].loads = slower_by(std::log(3));
        views[i].availability.take(0, Availability::kForEver, i % 2 == 1 ? 3 : 2);
    }
    RouteRequest request = data_request(0);
    request.units.count = 2;
    RouteTable table(views);

    const Decision decision = route(request, table);

    // Beside two, the best sixteen take up to 480 s · 3^(2/3) = 998 s: of the others 58 would take no longer alone.
    ASSERT_EQ(decision.filter_trace.steps.size(), 1U);
    EXPECT_EQ(decision.filter_trace.steps[0].filter, Filter::kDrain);
    EXPECT_EQ(decision.filter_trace.steps[0].removed, 58);
}

TEST(NeighbourBounds, WhereNeighboursSoonLeaveALaterStartIsNotForgotten)
{
    // Three units are wanted: two are free at once and four when the others end, who cost nothing then.
    std::vector<UnitTypeView> views = slower_and_slower(200);
    for (UnitTypeView& view : views) {
        view.cores_per_unit = 1;
        view.loads = slower_by(std::log(20));
        view.availability.take(0, 120, 2);
    }
    RouteRequest request = data_request(0);
    request.units.count = 3;
    RouteTable table(views);
    const RouteKnowledge none;
    PlaceChooser chooser(request, none);
    RouteKind& kind = table.impl().kind_of(request, chooser);
    for (std::size_t i = 0; i < views.size(); ++i) {
        table.impl().estimate_roughly(request, chooser, kind, i, RouteTable::Impl::Neighbours::kCounted);
        const double bound = kind.objective[i];
        table.impl().refine(request, chooser, kind, i);
        ASSERT_LE(bound, kind.objective[i]) << i;
        ASSERT_NEAR(kind.objective[i], 120 + 300 + 6 * static_cast<double>(i), 1) << i;
    }
}

// The same of two to four units. On 128 a run would be so short that no start would be worth waiting for.
TEST(NeighbourBounds, WhereNeighboursSoonLeaveALaterStartOnAnyCountIsNotForgotten)
{
    std::vector<UnitTypeView> views = slower_and_slower(200);
    for (UnitTypeView& view : views) {
        view.cores_per_unit = 1;
        view.loads = slower_by(std::log(20));
        view.speedups = well_divided();
        view.availability.take(0, 120, 3);
    }
    RouteRequest request = data_request(0);
    request.units.count.reset();
    request.units.min = 2;
    request.units.max = 4;
    RouteTable table(views);
    const RouteKnowledge none;
    PlaceChooser chooser(request, none);
    RouteKind& kind = table.impl().kind_of(request, chooser);
    for (std::size_t i = 0; i < views.size(); ++i) {
        table.impl().estimate_roughly(request, chooser, kind, i, RouteTable::Impl::Neighbours::kCounted);
        const double bound = kind.objective[i];
        table.impl().refine(request, chooser, kind, i);
        ASSERT_LE(bound, kind.objective[i]) << i;
        ASSERT_NEAR(kind.objective[i], 120 + (300 + 6 * static_cast<double>(i)) / 4, 5) << i;
    }
}

TEST(NeighbourBounds, NoCountIsBetterThanItsBound)
{
    std::mt19937_64 random(9);
    const auto any = [&random](double low, double high) {
        return std::uniform_real_distribution<double>(low, high)(random);
    };
    const std::shared_ptr<const UnitSpeedups> curve = well_divided();
    for (int world = 0; world < 40; ++world) {
        std::vector<UnitTypeView> views;
        std::vector<PastWait> waits;
        for (int i = 0; i < 100; ++i) {
            UnitTypeView& view = views.emplace_back(bounded_unit_type(i, any(0.001, 0.02), 1e8));
            view.cores_per_unit = 2;
            view.speedups = curve;
            view.loads = i % 2 == 0 ? slower_by(any(0, 3)) : slower_beside_bubbles_by(any(0, 3));
            view.availability.take(0, any(0, 300), 1 + i % 3);
            if (i % 4 == 0) view.availability.take(0, any(0, 300), 1);
            if (i % 5 == 0) view.trust_factor = any(0.5, 1);
            PriceEntry entry;
            entry.per_unit_hour_micros = 100'000 + i * 1000;
            entry.unit_power_w = 100;
            view.price = std::make_shared<const UnitPrice>(entry);
            waits.push_back({view.id.value, i % 2 * any(0, 1000), any(0, 1000)});
        }
        RouteRequest request = data_request(0);
        request.units.count.reset();
        request.units.min = 1 + world % 3;
        request.units.max = 4;
        const std::array<Preference, 3> preferences{{{1, 0, 0}, {0.5, 0.3, 0.2}, {0, 1, 0}}};
        request.prefer = preferences[static_cast<std::size_t>(any(0, 3))];
        RouteKnowledge knowledge;
        if (world % 2 > 0) knowledge.waits = std::make_shared<const WaitHistory>(waits);
        RouteTable table(views, knowledge);
        PlaceChooser chooser(request, knowledge);
        RouteKind& kind = table.impl().kind_of(request, chooser);
        for (std::size_t i = 0; i < views.size(); ++i) {
            table.impl().estimate_roughly(request, chooser, kind, i, RouteTable::Impl::Neighbours::kCounted);
            const double bound = kind.objective[i];
            table.impl().refine(request, chooser, kind, i);
            ASSERT_LE(bound, kind.objective[i]) << world << " " << i;
        }
    }
}

/// By a bound that counts neighbours, and by the choice at the same place.
std::array<double, 2> bound_and_choice(const std::vector<UnitTypeView>& views, std::size_t at)
{
    const RouteRequest request = data_request(0);
    RouteTable table(views);
    const RouteKnowledge none;
    PlaceChooser chooser(request, none);
    RouteKind& kind = table.impl().kind_of(request, chooser);
    table.impl().estimate_roughly(request, chooser, kind, at, RouteTable::Impl::Neighbours::kCounted);
    const double bound = kind.objective[at];
    table.impl().refine(request, chooser, kind, at);
    return {bound, kind.objective[at]};
}

// A run of 300 s beside two cores, in turn whose jobs stay in their caches, whom nobody knows, who are two bubbles, and
// beside one more core of another unit type.
TEST(NeighbourBounds, CountNeighboursByThePressureThatTheyMake)
{
    std::vector<UnitTypeView> views = slower_and_slower(200);
    for (UnitTypeView& view : views) {
        view.cores_per_unit = 1;
        view.loads = slower_beside_bubbles_by(std::log(8));
        view.availability.take(0, 1e6, 2);
    }
    const auto expect_at_least = [&](double factor) {
        const auto [bound, choice] = bound_and_choice(views, 0);
        EXPECT_LE(bound, choice);
        EXPECT_NEAR(bound, 300 * factor, 0.5);
        EXPECT_NEAR(choice, 300 * factor, 0.5);
    };
    views[0].held_memory.add({.pressure = 0, .sensitivity = 0}, 2);
    expect_at_least(1);
    views[0].held_memory = {};
    expect_at_least(2);
    views[0].held_memory.add({.pressure = 1, .sensitivity = 0}, 2);
    expect_at_least(4);
    views[0].other_cores = OtherCores{2, Availability(2), {}};
    views[0].other_cores->free.take(0, 1e6, 1);
    views[0].other_cores->memory.add({.pressure = 1, .sensitivity = 0}, 1);
    expect_at_least(8);
}

// Of a hundred places the first thirty take 300 s to 474 s, and as much again from each of two neighbours; the next
// takes 480 s, and has none. Sixteen are described.
TEST(NeighbourBounds, WhatAJobWithLimitsCostsItsNeighboursIsWeighedToo)
{
    std::vector<UnitTypeView> views = slower_and_slower(100);
    for (std::size_t i = 0; i < 30; ++i) {
        views[i].cores_per_unit = 1;
        views[i].loads = slower_beside_bubbles_by(0);
        views[i].availability.take(0, 1e6, 2);
        views[i].held_memory.add({.pressure = 0, .sensitivity = 1}, 2);
    }
    RouteRequest request = data_request(0);
    const Decision without_limits = route(request, views);
    request.budget = 1e9;
    request.transfer.deadline = kMorning + std::chrono::hours(30);
    request.transfer.network = NetworkChoice::kNow;
    const Decision decision = route(request, views);

    for (const Decision* const one : {&without_limits, &decision}) {
        ASSERT_TRUE(one->winner);
        EXPECT_EQ(one->candidates[*one->winner].unit_type_id.value, "ut_1030");
    }
}

} // namespace
} // namespace fathom
