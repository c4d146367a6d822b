#include "core/decide/routing/route_columns.hpp"
#include "core/decide/routing/route_json.hpp"
#include "core/schedule/unit_ledger.hpp"
#include "core/schedule/unmeasured_places.hpp"
#include "tests/core/decide/routing/random_network.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(UnitLedger, KeepsPlannedUnitsForTheirTime)
{
    std::vector<UnitTypeView> unit_types;
    UnitTypeView view;
    view.id = {"ut_1"};
    view.unit_count = 3;
    view.availability = Availability(3);
    unit_types.push_back(view);
    const std::vector<Reservation> reserved{{{"ut_1"}, 1, 5}, {{"ut_1"}, 1, 9}};

    UnitLedger ledger(unit_types, {}, {.reserved = reserved});
    EXPECT_TRUE(ledger.has_free_unit());
    ledger.reserve({{"ut_1"}, 2, 20, 5}); // one is free, one more at 5 s

    const Availability& units = ledger.views()[0].availability;
    EXPECT_EQ(units.earliest_start(1, 5), 0) << "before the planned job";
    EXPECT_EQ(units.earliest_start(1, 6), 9);
    EXPECT_EQ(units.earliest_start(2, 1), 20);
    EXPECT_TRUE(ledger.has_free_unit());
}

TEST(UnitLedger, LeavesWhatItIsMadeOfAndCopiesOnlyWhatItTakesOf)
{
    std::vector<UnitTypeView> unit_types(3);
    for (std::size_t i = 0; i < unit_types.size(); ++i) {
        unit_types[i].id = {"ut_" + std::to_string(i)};
        unit_types[i].unit_count = 4;
        unit_types[i].availability = Availability(4);
    }
    const std::vector<Reservation> reserved{{{"ut_1"}, 3, 60}};

    UnitLedger ledger(unit_types, {}, {.reserved = reserved});
    ledger.begin_trial();
    ledger.reserve({{"ut_1"}, 1, 60});
    ledger.reserve({{"ut_2"}, 4, 60});

    EXPECT_EQ(&ledger.views()[0], &unit_types[0]);
    EXPECT_EQ(ledger.views()[1].availability.free_now(), 0);
    EXPECT_EQ(ledger.find({"ut_2"})->availability.free_now(), 0);
    EXPECT_EQ(ledger.index_of("ut_2"), std::optional<std::size_t>(2));
    EXPECT_EQ(ledger.index_of("ut_3"), std::nullopt);

    ledger.undo_trial();

    EXPECT_EQ(ledger.views()[1].availability.free_now(), 1);
    EXPECT_EQ(ledger.views()[2].availability.free_now(), 4);
    for (const UnitTypeView& one : unit_types)
        EXPECT_EQ(one.availability.free_now(), 4) << one.id.value;
}

TEST(UnitLedger, TellsWhatADecisionWasMadeByWithAndWithoutColumns)
{
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const test::RandomNetwork network = test::NetworkMaker(seed).make();
        for (const bool has_columns : {false, true}) {
            std::shared_ptr<RouteColumns> columns;
            if (has_columns) columns = std::make_shared<RouteColumns>(network.unit_types, network.knowledge.estimates);
            UnitLedger ledger(network.unit_types, network.knowledge, {}, columns);
            for (int taken = 0; taken < 2; ++taken) {
                const Decision decision = ledger.decide(network.request);

                const std::string inputs = ledger.inputs_of(network.request, decision);

                const Json expected = route_inputs_json(network.request, ledger.views(), ledger.knowledge(), decision);
                EXPECT_EQ(*parse_json(inputs), *parse_json(expected.dump())) << seed << " " << taken;
                ledger.reserve({network.unit_types.front().id, 1, 60});
            }
        }
    }
}

TEST(UnitTypeIndex, FindsAnyUnitTypeWhereverItWasAskedForBefore)
{
    std::vector<UnitTypeView> unit_types(9);
    for (std::size_t i = 0; i < unit_types.size(); ++i)
        unit_types[i].id = {"ut_" + std::to_string(i)};
    const UnitTypeIndex index(unit_types);

    for (std::size_t i = 0; i < unit_types.size(); ++i) {
        EXPECT_EQ(index.find(unit_types[i].id.value), std::optional(i));
        EXPECT_EQ(index.find_after(std::nullopt, unit_types[i].id.value), std::optional(i));
        for (std::size_t last = 0; last < unit_types.size(); ++last)
            EXPECT_EQ(index.find_after(last, unit_types[i].id.value), std::optional(i));
    }
    EXPECT_EQ(index.find_after(3, "ut_9"), std::nullopt);
}

TEST(UnmeasuredPlaces, AreKnownForEachKindOfRequest)
{
    const Timestamp now = parse_rfc3339("2026-11-18T09:10:00Z").value();
    std::vector<UnitTypeView> unit_types;
    for (const std::string& name : std::vector<std::string>{"ut_1", "ut_2", "ut_3"}) {
        UnitTypeView view;
        view.id = {name};
        view.unit_count = name == "ut_3" ? 1 : 4;
        view.availability = Availability(view.unit_count);
        view.operators = {"dgemm", "fft3d"};
        MeasuredOperator one;
        one.operator_id = "dgemm";
        one.parameters_key = "n=512";
        one.measured_at = now - std::chrono::hours(name == "ut_1" ? 1 : 48);
        view.measured.push_back(one);
        unit_types.push_back(view);
    }
    RouteRequest request;
    request.operators = {{.operator_id = "dgemm", .parameters_key = "n=512"}};
    RouteRequest larger = request;
    larger.units.count = 2;
    RouteRequest other_size = request;
    other_size.operators[0].parameters_key = "n=1024";
    RouteRequest of_first = request;
    of_first.units.type = "ut_1";

    unit_types[0].measured.own().push_back(unit_types[1].measured[0]); // an older one of the same counts for nothing
    UnitTypeView cannot = unit_types[2];
    cannot.id = {"ut_4"};
    cannot.operators = {"fft3d"};
    unit_types.push_back(cannot);

    UnmeasuredPlaces unmeasured(std::make_shared<RouteColumns>(unit_types), now);

    for (int again = 0; again < 2; ++again) {
        EXPECT_THAT(unmeasured.find(request, std::chrono::hours(24)), ElementsAre(1, 2));
        EXPECT_THAT(unmeasured.find(request, std::chrono::hours(72)), IsEmpty());
        EXPECT_THAT(unmeasured.find(larger, std::chrono::hours(24)), ElementsAre(1));
        EXPECT_THAT(unmeasured.find(other_size, std::chrono::hours(72)), ElementsAre(0, 1, 2));
        EXPECT_THAT(unmeasured.find(of_first, std::chrono::hours(24)), IsEmpty());
    }
}

TEST(UnitLedger, SaysWhetherAnythingIsFreeAsTheShortWayDoes)
{
    const Timestamp now = parse_rfc3339("2026-11-18T09:10:00Z").value();
    using std::chrono::minutes;
    for (int state = 0; state < 64; ++state) {
        const auto has = [state](int bit) { return (state >> bit & 1) != 0; };
        UnitTypeView view;
        view.id = {"ut_1"};
        view.unit_count = 2;
        view.availability = Availability(2);
        if (has(0)) view.closed_reason = "drained";
        view.is_open_to_probes = has(1);
        UnitCalendar calendar;
        if (has(2)) calendar.closures.push_back({{"ut_1"}, now - minutes(5), now + minutes(5)});
        if (has(3)) calendar.closures.push_back({{"ut_1"}, now + minutes(5), now + minutes(9)});
        std::vector<Reservation> in_use{{{"ut_1"}, 1, 60}};
        if (has(4)) in_use.push_back({{"ut_1"}, 1, 90});
        if (has(5)) in_use.push_back({{"ut_1"}, 1, 90, 30}); // later: what is free now stays free
        const std::vector unit_types{view};

        const UnitLedger ledger(unit_types, {}, {.calendar = &calendar, .reserved = in_use, .now = now});
        UnitCounts taken;
        count_taken(taken, in_use);
        EXPECT_EQ(has_free_unit(unit_types, calendar, taken, now), ledger.has_free_unit()) << state;
    }
}

/// Of a host; it is known what neighbours cost there.
UnitTypeView on_host(const std::string& name, const std::string& host, std::int64_t units, std::int64_t cores)
{
    UnitTypeView view;
    view.id = {"ut_" + name};
    view.unit_count = units;
    view.cores_per_unit = cores;
    view.availability = Availability(units);
    view.host = host;
    view.loads = std::make_shared<const UnitLoads>(UnitLoads{{"dgemm", {.slope = 0.1}}});
    return view;
}

TEST(UnitLedgerHosts, JobsOnOtherUnitTypesOfTheHostHoldItsCores)
{
    std::vector<UnitTypeView> views{on_host("a", "h1", 4, 1), on_host("b", "h1", 2, 4), on_host("c", "h2", 3, 1),
                                    on_host("d", "", 5, 1)};
    views[1].loads = nullptr;
    const std::vector<Reservation> reserved{
        {.unit_type_id = {"ut_b"}, .unit_count = 1, .release_s = 60, .memory = MemoryUse{0.5, 0.1}},
        {.unit_type_id = {"ut_a"}, .unit_count = 2, .release_s = 60}};

    const UnitLedger ledger(views, {}, {.reserved = reserved});

    const std::optional<OtherCores>& other = ledger.views()[0].other_cores;
    ASSERT_TRUE(other);
    EXPECT_EQ(other->count, 8);
    EXPECT_EQ(other->free.free_at(0), 4);
    EXPECT_EQ(other->free.free_at(60), 8);
    EXPECT_EQ(other->memory.units, 4);
    EXPECT_EQ(other->memory.pressure, 2);
    EXPECT_EQ(ledger.views()[0].availability.free_at(0), 2) << "its own units are taken as ever";
    EXPECT_FALSE(ledger.views()[1].other_cores) << "nobody knows what they would cost it";
    EXPECT_FALSE(ledger.views()[2].other_cores) << "nothing else is there";
    EXPECT_FALSE(ledger.views()[3].other_cores);
}

TEST(UnitLedgerHosts, AreLaidOnlyOnUnitTypesThatSomebodyLooksAt)
{
    const std::vector<UnitTypeView> views{on_host("a", "h1", 4, 1), on_host("b", "h1", 2, 4), on_host("c", "h1", 1, 2)};
    const std::vector<Reservation> reserved{{.unit_type_id = {"ut_b"}, .unit_count = 2, .release_s = 60},
                                            {.unit_type_id = {"ut_c"}, .unit_count = 1, .release_s = 30},
                                            {.unit_type_id = {"ut_gone"}, .unit_count = 1, .release_s = 30}};

    UnitLedger ledger(views, {}, {.reserved = reserved});
    ledger.reserve({.unit_type_id = {"ut_a"}, .unit_count = 1, .release_s = 60});

    EXPECT_EQ(ledger.views()[0].other_cores.value().free.free_at(0), 0) << "reserved before anybody looked";
    EXPECT_EQ(ledger.views()[0].other_cores->free.free_at(30), 2);
    EXPECT_EQ(&ledger.views().given(1), &views[1]) << "nobody has looked";
    EXPECT_EQ(ledger.views()[2].other_cores.value().count, 12);
    EXPECT_EQ(ledger.views()[2].other_cores->free.free_at(0), 4) << "what came later in the cycle is not in it";
    EXPECT_EQ(ledger.views()[2].availability.free_at(0), 0);
}

TEST(UnitLedgerHosts, AMachineThatManyCentersAreTriedOutOnIsNone)
{
    std::vector<UnitTypeView> views;
    for (std::uint32_t i = 0; i <= HostCores::kMaxTypes; ++i)
        views.push_back(on_host(std::to_string(i), "h1", 1, 1));

    EXPECT_FALSE(UnitLedger(views, {}, {}).views()[0].other_cores);
    views.pop_back();
    EXPECT_TRUE(UnitLedger(views, {}, {}).views()[0].other_cores);
}

} // namespace
} // namespace fathom
