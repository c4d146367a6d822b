#include "tests/server/jobs/jobs_fixture.hpp"

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

/// What routers learn of load, as it is kept for all of them.
class UnitLoadsTest : public JobsFixture {
  protected:
    void look(UnitLoadService& loads) { ASSERT_TRUE(run(loads.look())); }
    JobId submit_dgemm(int executions)
    {
        return submit(spec({{"operators", {{{"id", "dgemm"}, {"count", executions}}}}}));
    }
};

TEST_F(UnitLoadsTest, AReplicaThatHasJustStartedKnowsWhatTheOthersDo)
{
    add_operators();
    const std::string alpha = add_center("alpha", 2);
    add_measurement(alpha, 0.01);
    look(unit_loads_);
    clock_.advance(12h); // counts as an hour
    look(unit_loads_);
    submit_dgemm(100);
    route();
    clock_.advance(1min);
    look(unit_loads_);
    const double known = unit_loads_.get()->busy_shares.at(alpha);
    EXPECT_NEAR(known, 0.959, 0.01);

    UnitLoadService other(database_, catalog_, compute_, clock_);
    EXPECT_TRUE(other.get()->busy_shares.empty());
    look(other);
    EXPECT_NEAR(other.get()->busy_shares.at(alpha), known, 1e-4);
}

TEST_F(UnitLoadsTest, TwoThatLookAtOnceCountATimeOnce)
{
    const std::string alpha = add_center("alpha", 2);
    look(unit_loads_);
    clock_.advance(1h);
    UnitLoadService other(database_, catalog_, compute_, clock_);
    auto first = io_.spawn(unit_loads_.look());
    auto second = io_.spawn(other.look());
    ASSERT_TRUE(test::TestIo::get(std::move(first)));
    ASSERT_TRUE(test::TestIo::get(std::move(second)));

    // The clock goes on meanwhile: 1e-3 is a minute and a half of it. Counted twice it would be 0.04 less.
    EXPECT_NEAR(unit_loads_.get()->busy_shares.at(alpha), std::exp(-1.0 / 24), 1e-3);
    EXPECT_NEAR(other.get()->busy_shares.at(alpha), std::exp(-1.0 / 24), 1e-3);
}

TEST_F(UnitLoadsTest, WorthsComeFromTheNewestJobsOnceFiftyHaveCome)
{
    add_operators();
    const std::string fast = add_center("fast", 1);
    const std::string slow = add_center("slow", 1);
    const std::string other = add_center("other", 1, "gpu");
    add_measurement(fast, 0.01);
    add_measurement(slow, 0.04);
    for (int i = 0; i < 49; ++i)
        submit_dgemm(1000);
    look(unit_loads_);
    EXPECT_TRUE(unit_loads_.get()->shadow_prices.empty());

    submit_dgemm(1000);
    clock_.advance(10s);
    look(unit_loads_);

    const auto shadow_prices = unit_loads_.get()->shadow_prices;
    EXPECT_GT(shadow_prices.at(fast), 2 * shadow_prices.at(slow));
    EXPECT_FALSE(shadow_prices.contains(other)) << "its run time there is not known";
    EXPECT_EQ(sql("SELECT newest_job = (SELECT max(id) FROM job WHERE label = 'job') FROM unit_load_look"), "t");

    // Jobs whose operator is gone, or cannot be read, are left out.
    sql("UPDATE job SET spec = '{\"operators\": 1}' WHERE id = (SELECT max(id) FROM job WHERE label = 'job')");
    for (int i = 0; i < 50; ++i)
        submit_dgemm(2000);
    clock_.advance(10s);
    look(unit_loads_);
    EXPECT_TRUE(unit_loads_.get()->shadow_prices.contains(fast));
}

} // namespace
} // namespace fathom::server
