#include "server/routing/unit_loads.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

constexpr Timestamp kStart{std::chrono::sys_days{std::chrono::year{2026} / 11 / 20}};

/// Unit types of four units each, and looks at them.
class UnitLoadRowsTest : public ::testing::Test {
  protected:
    UnitLoadRowsTest()
    {
        for (const char* const id : {"a", "b", "c"}) {
            UnitTypeView view;
            view.id = UnitTypeId{id};
            view.unit_count = 4;
            catalog_.unit_types.push_back(view);
        }
    }
    void look(Timestamp now, const std::map<std::string, std::int64_t>& used = {})
    {
        const UnitLoadRows before = rows_;
        rows_ = note_units_in_use(rows_, last_, used, catalog_, now);
        for (const auto& [id, row] : rows_)
            changed_ += before.contains(id) && before.at(id) == row ? 0 : 1;
        last_.looked_at = now;
        now_ = now;
    }
    double busy(const std::string& id) const { return loads_at(rows_, now_).busy_shares.at(id); }

    CatalogSnapshot catalog_;
    UnitLoadRows rows_;
    UnitLoadLook last_;
    Timestamp now_{};
    int changed_ = 0; ///< rows, in all looks
};

TEST_F(UnitLoadRowsTest, SayNothingBeforeTheyWereLookedAtTwice)
{
    look(kStart);
    EXPECT_EQ(busy("a"), 1);
    EXPECT_FALSE(loads_at(rows_, now_).shadow_prices.contains("a"));
}

// What a look finds lasts until the next; after t of one share s the load is s + (1 − s) · e^(−t / 1 day).
TEST_F(UnitLoadRowsTest, RememberADay)
{
    for (int hour = 0; hour <= 24; ++hour)
        look(kStart + hour * 1h, {{"b", 1}, {"c", 9}});

    EXPECT_NEAR(busy("a"), std::exp(-1), 1e-9);
    EXPECT_NEAR(busy("b"), 0.25 + 0.75 * std::exp(-1), 1e-9);
    EXPECT_EQ(busy("c"), 1) << "a center that shrank below what runs";
    EXPECT_EQ(changed_, 3) << "what stays is not written again";
}

TEST_F(UnitLoadRowsTest, FollowWhatIsInUse)
{
    look(kStart, {{"a", 4}});
    look(kStart + 1h, {{"a", 2}});
    look(kStart + 2h, {{"a", 0}});
    look(kStart + 3h, {{"a", 0}});

    const double hour = std::exp(-1.0 / 24);
    const double after_half = 0.5 + 0.5 * hour;
    EXPECT_NEAR(busy("a"), after_half * hour, 1e-9);
}

TEST_F(UnitLoadRowsTest, ALongGapCountsAsAnHour)
{
    look(kStart);
    look(kStart + 240h);
    EXPECT_NEAR(busy("a"), std::exp(-1.0 / 24), 1e-9);

    look(kStart);
    look(kStart + 1min, {{"a", 4}});
    EXPECT_LE(busy("a"), 1) << "the clock was set back";
}

TEST_F(UnitLoadRowsTest, TimeInWhichAUnitTypeIsClosedDoesNotCount)
{
    look(kStart);
    catalog_.unit_types[0].closed_reason = "drained";
    look(kStart + 1h);
    catalog_.unit_types[0].closed_reason.clear();
    look(kStart + 2h);
    EXPECT_NEAR(busy("a"), std::exp(-1.0 / 24), 1e-9);

    catalog_.unit_types.erase(catalog_.unit_types.begin());
    look(kStart + 3h);
    EXPECT_FALSE(rows_.contains("a")) << "it is gone";
}

} // namespace
} // namespace fathom::server
