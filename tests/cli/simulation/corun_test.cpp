#include "core/base/file.hpp"
#include "core/base/json_reader.hpp"
#include "tests/cli/client/fake_server.hpp"

#include <gmock/gmock.h>

namespace fathom::cli::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// Two memory-intensive kernels run, a compute-intensive one waits.
constexpr const char* kGpu = R"({
  "running": [
    {"id": "a", "kind": "norm", "class": "memory", "instructions": 1000000, "instructions_done": 0, "ipc": 1,
     "ipc_alone": 2, "l2_miss_rate": 0.5, "register_bytes": 32768, "shared_bytes": 16384, "thread_blocks": 64},
    {"id": "b", "kind": "copy", "class": "memory", "application": "train", "input_size": 200, "instructions_done": 0,
     "ipc": 0.8, "ipc_alone": 2, "l2_miss_rate": 0.5, "register_bytes": 32768, "shared_bytes": 16384,
     "thread_blocks": 64}],
  "waiting": [{"id": "c", "kind": "conv", "class": "compute"}],
  "pairs": [{"a": "norm", "b": "conv", "a_normalized_ipc": 0.7, "b_normalized_ipc": 0.8, "count": 4}],
  "runs": [{"application": "train", "kernel": "copy", "input_size": 100, "instructions": 5000000},
           {"application": "train", "kernel": "copy", "input_size": 400, "instructions": 20000000}]})";

TEST(CorunDecide, SaysWhatWouldBeDoneWithTheFiguresAndWhatTheyRestOn)
{
    const Ran ran = fathom({"corun", "decide", "-"}, {}, kGpu);

    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(ran.out, AllOf(HasSubstr("pre-empt b for c"), HasSubstr("201201 cycles"), HasSubstr("measured"),
                               HasSubstr("NORMALIZED IPC"), HasSubstr("80 % INTERVAL"),
                               HasSubstr("Of 2 runs, each predicted from the others")));
}

TEST(CorunDecide, AsJsonItHasEveryFigure)
{
    const Ran ran = fathom({"corun", "decide", "-", "--output", "json"}, {}, kGpu);

    ASSERT_EQ(ran.code, 0) << ran.err;
    const Json answer = Json::parse(ran.out);
    EXPECT_EQ(answer["action"], "preempt");
    EXPECT_EQ(answer["victims"], Json::array({"b"}));
    EXPECT_NEAR(answer["figures"]["preempt_cycles"].get<double>(), 201'200.8, 0.1);
    EXPECT_NEAR(answer["predicted"][0]["instructions"].get<double>(), 1e7, 1e3);
}

TEST(CorunDecide, NamesEveryFaultOfTheFile)
{
    const Ran ran = fathom({"corun", "decide", "-"}, {}, R"({"limit": 0, "waiting": [{"id": "c", "weight": -1}]})");

    EXPECT_EQ(ran.code, 2);
    EXPECT_THAT(ran.err, AllOf(HasSubstr("limit: must be"), HasSubstr("waiting[0].kind: is required"),
                               HasSubstr("waiting[0].weight: must be")));
    EXPECT_EQ(ran.out, "");
}

TEST(CorunSimulate, ShowsPoliciesSideBySideWithIntervals)
{
    const Ran ran = fathom({"corun", "simulate", "--jobs", "30", "--seeds", "2"});

    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(ran.out,
                AllOf(HasSubstr("30 jobs, load 0.9"), HasSubstr("exclusive_fifo"), HasSubstr("shared_fifo"),
                      HasSubstr("greedy_best_pair"), HasSubstr("fathom"), HasSubstr("±"), HasSubstr("THROUGHPUT")));
    EXPECT_EQ(ran.out, fathom({"corun", "simulate", "--jobs", "30", "--seeds", "2"}).out) << "same seed, same bytes";
}

TEST(CorunSimulate, TakesMeasuredPairs)
{
    const Ran ran = fathom({"corun", "simulate", "--pairs", FATHOM_TEST_DATA "/gavel/pairs.csv", "--gpu", "k80",
                            "--jobs", "20", "--seeds", "1", "--policy", "fathom", "--output", "json"});

    ASSERT_EQ(ran.code, 0) << ran.err;
    const Json answer = Json::parse(ran.out);
    EXPECT_EQ(answer["world"], "gavel k80");
    EXPECT_EQ(answer["kinds"], 11);
    EXPECT_EQ(answer["policies"].size(), 1U);
    EXPECT_GT(answer["policies"][0]["throughput"]["mean"].get<double>(), 0);
    EXPECT_EQ(answer["policies"][0]["throughput"]["half_width"], nullptr);
}

TEST(CorunSimulate, SaysWhatIsWrong)
{
    const Ran policy = fathom({"corun", "simulate", "--policy", "best"});
    EXPECT_EQ(policy.code, 2);
    EXPECT_THAT(policy.err, HasSubstr("exclusive_fifo, exclusive_shortest"));
    EXPECT_EQ(fathom({"corun", "simulate", "--pairs", "/no/such/file"}).code, 2);
    EXPECT_EQ(fathom({"corun", "simulate", "--load", "-1"}).code, 2);
    const Ran gpu = fathom({"corun", "simulate", "--pairs", FATHOM_TEST_DATA "/gavel/pairs.csv", "--gpu", "h100"});
    EXPECT_THAT(gpu.err, HasSubstr("no pair on h100"));
    EXPECT_THAT(fathom({"corun", "simulate", "--help"}).out,
                AllOf(HasSubstr("Policies:"), HasSubstr("--preempt-s"), Not(HasSubstr("TODO"))));
}

} // namespace
} // namespace fathom::cli::test
