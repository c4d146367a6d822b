#include "core/schedule/unit_ledger.hpp"

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

    UnitLedger ledger(unit_types, {}, {}, reserved, {}, {});
    EXPECT_TRUE(ledger.has_free_unit());
    ledger.reserve({{"ut_1"}, 2, 20, 5}); // one is free, one more at 5 s

    const Availability& units = ledger.views()[0].availability;
    EXPECT_EQ(units.earliest_start(1, 5), 0) << "before the planned job";
    EXPECT_EQ(units.earliest_start(1, 6), 9);
    EXPECT_EQ(units.earliest_start(2, 1), 20);
    EXPECT_TRUE(ledger.has_free_unit());
}

TEST(UnitLedger, KnowsWhatIsUnmeasuredOfEachKindOfRequest)
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

    UnitLedger ledger(unit_types, {}, {}, {}, {}, now);

    for (int again = 0; again < 2; ++again) {
        EXPECT_THAT(ledger.unmeasured(request, std::chrono::hours(24)), ElementsAre(1, 2));
        EXPECT_THAT(ledger.unmeasured(request, std::chrono::hours(72)), IsEmpty());
        EXPECT_THAT(ledger.unmeasured(larger, std::chrono::hours(24)), ElementsAre(1));
        EXPECT_THAT(ledger.unmeasured(other_size, std::chrono::hours(72)), ElementsAre(0, 1, 2));
        EXPECT_THAT(ledger.unmeasured(of_first, std::chrono::hours(24)), IsEmpty());
    }
}

} // namespace
} // namespace fathom
