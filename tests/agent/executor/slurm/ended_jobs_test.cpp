#include "agent/executor/slurm/ended_jobs.hpp"

#include <gtest/gtest.h>

namespace fathom::agent {
namespace {

using namespace std::chrono_literals;

SlurmJob shown_job(const std::string& number, const std::string& state = "RUNNING")
{
    SlurmJob job;
    job.id = number;
    job.name = "att_1";
    job.state = state;
    job.uid = 1001;
    return job;
}

EndedJob ended_job()
{
    return {AttemptId{"att_1"}, 1001, std::nullopt};
}

TEST(EndedJobs, AreKnownByNumberNameAndUser)
{
    EndedJobs jobs;
    jobs.add("7", ended_job());

    EXPECT_NE(jobs.find(shown_job("7")), nullptr);
    EXPECT_EQ(jobs.find(shown_job("8")), nullptr);
    SlurmJob other = shown_job("7");
    other.name = "att_2"; // the number was given once more
    EXPECT_EQ(jobs.find(other), nullptr);
    other = shown_job("7");
    other.uid = 1002; // names can be given by anybody
    EXPECT_EQ(jobs.find(other), nullptr);
}

TEST(EndedJobs, TheOldestAreForgotten)
{
    EndedJobs jobs;
    for (int number = 0; number <= 10'000; ++number)
        jobs.add(std::to_string(number), ended_job());

    EXPECT_EQ(jobs.find(shown_job("0")), nullptr);
    EXPECT_NE(jobs.find(shown_job("1")), nullptr);
    EXPECT_NE(jobs.find(shown_job("10000")), nullptr);
}

TEST(EndedJobs, AreLeftOnceSlurmHasShownThemLongEnough)
{
    EndedJob job = ended_job();
    const EndedJobs::Time now{};

    EXPECT_FALSE(EndedJobs::is_left(job, shown_job("7"), now, 30s));
    EXPECT_FALSE(EndedJobs::is_left(job, shown_job("7", "PENDING"), now + 29s, 30s));
    EXPECT_TRUE(EndedJobs::is_left(job, shown_job("7"), now + 30s, 30s));
    EXPECT_FALSE(EndedJobs::is_left(job, shown_job("7"), now + 59s, 30s)) << "it was just cancelled";
    EXPECT_TRUE(EndedJobs::is_left(job, shown_job("7"), now + 60s, 30s));
    EXPECT_FALSE(EndedJobs::is_left(job, shown_job("7", "COMPLETED"), now + 95s, 30s));
    EXPECT_FALSE(EndedJobs::is_left(job, shown_job("7"), now + 96s, 30s)) << "it counts anew";
}

} // namespace
} // namespace fathom::agent
