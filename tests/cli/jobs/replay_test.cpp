// `fathom replay`: which cycles there are, and the jobs of one.
#include "tests/cli/client/fake_server.hpp"

#include <gmock/gmock.h>

namespace fathom::cli::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kCycles = R"({"items":[{"id":"cyc_1","decided_at":"2026-11-01T00:00:00Z","decided_by":"rep_1",
    "job_count":3,"start_count":1,"decision_s":0.25,"bytes":5000}],"next_page_token":null})";
constexpr const char* kCycleJobs = R"({"items":[
    {"job_id":"job_a","project":"p","label":"job","priority":0,"waited_s":3,"is_start":true,"position":1,
     "place":{"unit_type_id":"ut_1","center":"alpha","unit_type":"core","unit_count":2,"start_s":0,"run_s":10,
              "completion_s":10},"waits_for":null,"priority_rank":null},
    {"job_id":"job_b","project":"p","label":"job","priority":0,"waited_s":3,"is_start":false,"position":null,
     "place":null,"waits_for":"other","priority_rank":4}],"next_page_token":null})";

TEST(Replay, ListsCyclesAndTheJobsOfOne)
{
    const FakeServer server(
        {{"GET /api/v1/cycles", {answer(200, kCycles)}}, {"GET /api/v1/cycles/cyc_1/jobs", {answer(200, kCycleJobs)}}});

    const Ran cycles = fathom(server, {"replay"});
    const Ran jobs = fathom(server, {"replay", "cyc_1", "--jobs"});

    EXPECT_THAT(cycles.out, AllOf(HasSubstr("cyc_1"), HasSubstr("250 ms"), HasSubstr("rep_1"))) << cycles.err;
    EXPECT_THAT(jobs.out, AllOf(HasSubstr("starts as no. 1"), HasSubstr("alpha/core"), HasSubstr("job_b"))) << jobs.err;
}

TEST(Replay, ListsOnlyCyclesOfATime)
{
    const FakeServer server({{"GET /api/v1/cycles", {answer(200, R"({"items":[],"next_page_token":null})")}}});

    const Ran ran = fathom(server, {"replay", "--since", "2026-11-01T08:00:00Z", "--until", "2026-11-01T09:00:00Z"});

    ASSERT_EQ(ran.code, 0) << ran.err;
    const net::Request asked = server.requests().back();
    EXPECT_EQ(asked.query.at("since"), "2026-11-01T08:00:00Z");
    EXPECT_EQ(asked.query.at("until"), "2026-11-01T09:00:00Z");
    EXPECT_NE(fathom(server, {"replay", "cyc_1", "--since", "2026-11-01T08:00:00Z"}).code, 0);
}

TEST(Replay, NeedsACycleForItsJobs)
{
    const FakeServer server({});

    EXPECT_EQ(fathom(server, {"replay", "--jobs"}).code, 2);
    EXPECT_EQ(fathom(server, {"replay", "cyc_1", "--jobs", "--job", "job_1"}).code, 2);
}

} // namespace
} // namespace fathom::cli::test
