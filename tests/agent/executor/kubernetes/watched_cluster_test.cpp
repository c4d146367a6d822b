#include "agent/executor/kubernetes/watched_cluster.hpp"

#include <gtest/gtest.h>

namespace fathom::agent {
namespace {

const std::string kAttempt = "att_01HZZZZZZZZZZZZZZZZZZZZZZZ";

Json labelled(const std::string& uid, const std::string& center = "alpha")
{
    return {{"metadata",
             {{"name", "n-" + uid},
              {"uid", uid},
              {"labels", {{kManagedByLabel, kManagedBy}, {kCenterLabel, center}, {kAttemptLabel, kAttempt}}}}}};
}

TEST(WatchedCluster, KnowsTheJobsOfItsCenter)
{
    WatchedCluster view("alpha");

    EXPECT_EQ(view.take_job("ADDED", labelled("u1", "beta")), std::nullopt);
    EXPECT_EQ(view.job_of(AttemptId{kAttempt}), nullptr);
    EXPECT_EQ(view.take_job("ADDED", labelled("u1")), AttemptId{kAttempt});
    ASSERT_NE(view.job_of(AttemptId{kAttempt}), nullptr);
    EXPECT_EQ(view.job_of(AttemptId{kAttempt})->uid, "u1");
    EXPECT_EQ(view.take_job("DELETED", labelled("u1")), AttemptId{kAttempt});
    EXPECT_TRUE(view.jobs().empty());
}

TEST(WatchedCluster, TellsTheLastStateOfAPodThatIsGone)
{
    WatchedCluster view("alpha");
    EXPECT_FALSE(view.take_pod("ADDED", labelled("u1")));
    EXPECT_FALSE(view.take_pod("ADDED", labelled("u2")));
    ASSERT_NE(view.pods_of(AttemptId{kAttempt}), nullptr);
    EXPECT_EQ(view.pods_of(AttemptId{kAttempt})->size(), 2U);

    const std::optional<ClusterPod> gone = view.take_pod("DELETED", labelled("u1"));

    ASSERT_TRUE(gone);
    EXPECT_EQ(gone->uid, "u1");
    EXPECT_EQ(view.pods_of(AttemptId{kAttempt})->size(), 1U);
    view.take_pod("DELETED", labelled("u2"));
    EXPECT_EQ(view.pods_of(AttemptId{kAttempt}), nullptr);
}

TEST(WatchedCluster, AListReplacesWhatWasToldBefore)
{
    WatchedCluster view("alpha");
    view.take_job("ADDED", labelled("u1"));
    view.take_pod("ADDED", labelled("u1"));
    EXPECT_FALSE(view.has_listed());
    const WatchedCluster::Time began = std::chrono::steady_clock::now();

    view.begin_jobs(began);
    EXPECT_FALSE(view.has_listed());
    view.begin_pods(began);

    EXPECT_TRUE(view.has_listed());
    EXPECT_EQ(view.jobs_listed_at(), began);
    EXPECT_EQ(view.job_of(AttemptId{kAttempt}), nullptr);
    EXPECT_EQ(view.pods_of(AttemptId{kAttempt}), nullptr);
}

} // namespace
} // namespace fathom::agent
