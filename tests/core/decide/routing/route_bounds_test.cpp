// What a table knows of a place before it looks closely.
#include "core/decide/routing/route_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

namespace fathom {
namespace {

using namespace std::chrono_literals;

const Timestamp kMorning = parse_rfc3339("2026-11-18T09:10:00Z").value();

/// Four times as fast from 00:00 to 06:00.
std::shared_ptr<const NetworkProfile> night_network(double day_bytes)
{
    NetworkProfile::Known known{};
    for (std::size_t hour = 0; hour < known.hours.size(); ++hour)
        known.hours[hour] = {3, hour % 24 < 6 ? 4 * day_bytes : day_bytes, 0.1};
    known.overall = {504, day_bytes, 0.2};
    return std::make_shared<const NetworkProfile>(NetworkProfile::from(known));
}

UnitTypeView bounded_unit_type(int number, double median_s, double day_bytes)
{
    UnitTypeView view;
    view.id = UnitTypeId{"ut_" + std::to_string(1000 + number)};
    view.center_name = "center" + std::to_string(number);
    view.resource_type = "cpu";
    view.operators = {"dgemm"};
    view.unit_count = 4;
    view.availability = Availability(4);
    MeasuredOperator one;
    one.operator_id = "dgemm";
    one.parameters_key = "n=1";
    one.operations = 1e9;
    one.median_s = median_s;
    one.ci_low_s = median_s * 0.95;
    one.ci_high_s = median_s * 1.05;
    view.measured = {one};
    view.network = night_network(day_bytes);
    return view;
}

/// e^log_factor times as long beside three cores of others.
std::shared_ptr<const UnitLoads> slower_by(double log_factor)
{
    OperatorLoad load{.operator_id = "dgemm", .curve = {}};
    load.curve.copies = {{.copies = 4, .busy_cores = 3, .log_factor = log_factor, .deviation = 0.02, .run_count = 1}};
    return std::make_shared<const UnitLoads>(UnitLoads{load});
}

/// The same beside three cores that have a bubble each; of jobs that take as much of memory as a bubble.
std::shared_ptr<const UnitLoads> slower_beside_bubbles_by(double log_factor)
{
    UnitLoads loads = *slower_by(log_factor);
    loads[0].curve.bubbles = loads[0].curve.copies;
    loads[0].curve.pressure = Pressure{1, 0.1, 2};
    return std::make_shared<const UnitLoads>(std::move(loads));
}

RouteRequest data_request(double in_bytes)
{
    RouteRequest request;
    request.operators = {{"dgemm", "n=1", 30'000, 1e9, 1e8}};
    request.units.count = 1;
    request.transfer.in_bytes = in_bytes;
    request.transfer.now = kMorning;
    return request;
}

std::vector<UnitTypeView> slower_and_slower(int size)
{
    std::vector<UnitTypeView> views;
    for (int i = 0; i < size; ++i)
        views.push_back(bounded_unit_type(i, 0.01 + 0.0002 * i, 1e8)); // a run of 300 s, then 6 s more each
    return views;
}

/// Of the kind's unit types those at which a choice was made.
std::ptrdiff_t looked_at(const RouteRequest& request, RouteTable& table)
{
    const RouteKnowledge none;
    PlaceChooser chooser(request, none);
    const RouteKind& kind = table.impl().kind_of(request, chooser);
    return std::count(kind.is_rough.begin(), kind.is_rough.end(), 0);
}

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
TEST(RouteBounds, KnowWhatNeighboursCostAtLeast)
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

TEST(RouteBounds, WhereAJobCanNeverRunIsFoundAsWithoutItsNeighbours)
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

TEST(RouteBounds, WhereNeighboursSoonLeaveALaterStartIsNotForgotten)
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
TEST(RouteBounds, CountNeighboursByThePressureThatTheyMake)
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

// Of a hundred places the first thirty take 300 s to 474 s, and as much again from each of two neighbours; the next takes
// 480 s, and has none. Sixteen are described.
TEST(RouteBounds, WhatAJobWithLimitsCostsItsNeighboursIsWeighedToo)
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
