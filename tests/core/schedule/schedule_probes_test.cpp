#include "tests/core/schedule/schedule_fixture.hpp"

#include <gmock/gmock.h>

namespace fathom {
namespace {

using test::reason_of;
using test::ScheduleTest;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

/// Centers alpha, with one unit, and beta, with two, at one host, and probes of one unit each.
class ProbeScheduleTest : public ScheduleTest {
  protected:
    ProbeScheduleTest() { set_host(0); }

    /// Both centers are at a host where so many probes are.
    void set_host(std::int64_t probes)
    {
        input_.probe_hosts["ctr_alpha"] = {.host = 1, .probes = probes};
        input_.probe_hosts["ctr_beta"] = {.host = 1, .probes = probes};
    }
    ReadyJob& add_job_at(const std::string& id, const std::string& center)
    {
        UnitRequest units;
        units.center = center;
        units.count = 1;
        add_job(id, 10, 10, units);
        return input_.jobs.back();
    }
    ReadyJob& add_probe(const std::string& id, const std::string& center)
    {
        ReadyJob& job = add_job_at(id, center);
        job.request.is_probe = true;
        return job;
    }
    std::vector<std::string> starting()
    {
        plan_ = decide();
        EXPECT_EQ(plan_.starts.size() + plan_.waits.size(), input_.jobs.size());
        std::vector<std::string> jobs;
        for (const ScheduledStart& start : plan_.starts)
            jobs.push_back(input_.jobs[start.job].id);
        return jobs;
    }

    SchedulePlan plan_; ///< of the last call of starting()
};

TEST_F(ProbeScheduleTest, OneStartsAtAHostInACycle)
{
    add_probe("j1", "alpha");
    add_probe("j2", "beta");
    add_probe("j3", "beta");

    EXPECT_EQ(starting().size(), 1U);
    for (const ScheduledWait& wait : plan_.waits) {
        EXPECT_TRUE(wait.waits_for_host);
        EXPECT_FALSE(wait.planned);
    }
}

TEST_F(ProbeScheduleTest, NoneStartsBesideAnotherOneAndJobsGetItsUnits)
{
    set_host(1);
    add_probe("j1", "alpha");
    add_job_at("j2", "alpha");

    EXPECT_THAT(starting(), ElementsAre("j2"));
    ASSERT_EQ(plan_.waits.size(), 1U);
    EXPECT_TRUE(plan_.waits[0].waits_for_host);
    EXPECT_FALSE(plan_.waits[0].planned);
    EXPECT_EQ(reason_of(plan_.waits[0]), "waits until the host of alpha/gpu has ended another probe");
}

TEST_F(ProbeScheduleTest, OneThatWaitsForItsHostMakesNoJobWait)
{
    set_host(1);
    take("alpha", 500);
    add_probe("j1", "alpha").priority = 100;
    add_job_at("j2", "alpha");

    EXPECT_THAT(starting(), IsEmpty());
    ASSERT_EQ(plan_.waits.size(), 2U);
    EXPECT_TRUE(plan_.waits[0].waits_for_host);
    ASSERT_TRUE(plan_.waits[1].planned);
    EXPECT_DOUBLE_EQ(plan_.waits[1].planned->from_s, 500);
}

TEST_F(ProbeScheduleTest, WhereTheHostIsNotKnownAllStart)
{
    set_host(1);
    input_.probe_hosts.erase("ctr_beta");
    add_probe("j1", "alpha");
    add_probe("j2", "beta");
    add_probe("j3", "beta");

    EXPECT_THAT(starting(), UnorderedElementsAre("j2", "j3"));
}

TEST_F(ProbeScheduleTest, OtherHostsGoOn)
{
    set_host(1);
    input_.probe_hosts["ctr_beta"] = {.host = 2, .probes = 0};
    add_probe("j1", "alpha");
    add_probe("j2", "beta");

    EXPECT_THAT(starting(), ElementsAre("j2"));
}

TEST_F(ProbeScheduleTest, OneWhoseUnitsAreTakenLeavesItsHostToOthers)
{
    take("alpha", 500);
    add_probe("j1", "alpha");
    add_probe("j2", "beta");

    EXPECT_THAT(starting(), ElementsAre("j2"));
}

TEST_F(ProbeScheduleTest, BeyondItsStarvationLimitOneTakesItsUnitsBesideTheOneThatRuns)
{
    set_host(1);
    add_probe("j1", "alpha").waited_s = 2 * input_.settings.starvation_limit_s;
    add_probe("j2", "beta").waited_s = 2 * input_.settings.starvation_limit_s;
    EXPECT_EQ(starting().size(), 1U) << "the other one is not next";

    set_host(2);
    EXPECT_THAT(starting(), IsEmpty());
}

TEST_F(ProbeScheduleTest, OneThatWaitsForItsHostKeepsItsPlaceInLine)
{
    set_host(1);
    add_probe("j1", "alpha");

    EXPECT_THAT(starting(), IsEmpty());
    ASSERT_EQ(plan_.waits.size(), 1U);
    EXPECT_LT(plan_.waits[0].priority_rank, kLastRank);
}

} // namespace
} // namespace fathom
