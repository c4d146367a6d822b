#include "core/schedule/held_probes.hpp"

#include <gtest/gtest.h>

namespace fathom {
namespace {

/// Two probes of one kind for the same center, whose host is known.
class HeldProbesTest : public ::testing::Test {
  protected:
    HeldProbesTest()
    {
        input_.probe_hosts = {{"ctr_alpha", {.host = 1, .probes = 0}}};
        Decision decision;
        decision.candidates.resize(1);
        decision.candidates[0].center_id = CenterId{"ctr_alpha"};
        decision.winner = 0;
        for (std::size_t i = 0; i < 2; ++i) {
            ReadyJob job;
            job.kind = "kind";
            job.request.is_probe = true;
            input_.jobs.push_back(std::move(job));
            jobs_.views[i].options = {{.unit_type = 0, .run_s = 10}};
        }
        kinds_.decisions.emplace("kind", std::make_shared<const Decision>(std::move(decision)));
    }

    ScheduleInput input_;
    KindViews kinds_;
    CycleJobs jobs_{2};
    std::vector<ScheduledWait> waits_;
};

TEST_F(HeldProbesTest, AProbeThatStartsHoldsTheOthersOfItsHost)
{
    HeldProbes held(input_, kinds_);
    held.hold(jobs_, waits_);
    EXPECT_TRUE(waits_.empty());

    held.note_start(0, CenterId{"ctr_alpha"}, jobs_, waits_);

    ASSERT_EQ(waits_.size(), 1U);
    EXPECT_EQ(waits_[0].job, 1U);
    EXPECT_TRUE(waits_[0].waits_for_host);
    EXPECT_TRUE(jobs_.is_done[1]);
    EXPECT_TRUE(jobs_.views[1].options.empty());
    held.give_back(jobs_.views);
    EXPECT_EQ(jobs_.views[1].options.size(), 1U);
}

TEST_F(HeldProbesTest, AJobThatStartsHoldsNone)
{
    input_.jobs[0].request.is_probe = false;
    HeldProbes held(input_, kinds_);

    held.note_start(0, CenterId{"ctr_alpha"}, jobs_, waits_);

    EXPECT_TRUE(waits_.empty());
}

TEST_F(HeldProbesTest, ProbesOfAHostThatHasOneWait)
{
    input_.probe_hosts.at("ctr_alpha").probes = 1;
    HeldProbes held(input_, kinds_);

    held.hold(jobs_, waits_);

    EXPECT_EQ(waits_.size(), 2U);
}

} // namespace
} // namespace fathom
