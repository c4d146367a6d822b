#include "agent/balance/balance_service.hpp"
#include "agent/balance/trace_reader.hpp"
#include "tests/agent/balance/loop_fixture.hpp"

#include <gmock/gmock.h>

#include <fcntl.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

using namespace test;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(BalanceLoop, AServiceLeavesATraceThatCanBeFollowed)
{
    BalanceService service(host_.config(), host_.places(), host_.trace(), sub_units_);
    ASSERT_TRUE(service.start());
    host_.run_job();
    service.step(Timestamp());
    service.step(Timestamp());
    EXPECT_EQ(service.trace().recent().size(), 2U);

    TraceReader reader(OpenFile(::open(host_.traces().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)), ::geteuid());
    const std::vector<Json> first = reader.next().value();
    ASSERT_EQ(first.size(), 2U);
    EXPECT_EQ(first[0]["unit"], "pair");
    EXPECT_EQ(first[0]["reason"], "no sample: counting begins");
    EXPECT_THAT(reader.next().value(), IsEmpty());
    service.step(Timestamp());
    EXPECT_EQ(reader.next().value().size(), 1U);
    service.stop();
}

TEST_F(BalanceLoop, ATraceIsBoundedAndReadersFollowItsFiles)
{
    OpenFile folder(::open(host_.traces().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    BalanceTrace trace(std::move(folder), ::geteuid(), ::getegid(), 4000, 5);
    TraceReader reader(OpenFile(::open(host_.traces().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)), ::geteuid());
    std::size_t seen = 0;
    for (int i = 0; i < 100; ++i) {
        trace.add({.at = {}, .unit = "pair", .job = "att", .is_dry_run = false, .step = {}, .faults = {}});
        seen += reader.next().value().size();
    }
    EXPECT_EQ(trace.recent().size(), 5U);
    EXPECT_EQ(seen, 100U);
    EXPECT_LE(std::filesystem::file_size(host_.traces() / kTraceName), 4000U);
    EXPECT_LE(std::filesystem::file_size(host_.traces() / kOlderTraceName), 4000U);
}

TEST(BalanceTraceText, IsALineOfFiguresAndALineOfAPlot)
{
    TraceStep step{.at = {}, .unit = "gpu0", .job = "att", .is_dry_run = true, .step = {}, .faults = {"clock: absent"}};
    step.step.outcome = StepOutcome::kActed;
    step.step.occupancies = {0.9, 0.4};
    step.step.error = 0.5;
    step.step.output = 0.65;
    step.step.reason = "transfer-bound\x1b[2J";
    const Json json = to_json(step);
    EXPECT_EQ(trace_line(json), "00:00:00  gpu0          P_p 0.900  P_d 0.400  e +0.500  u +0.650  would act: "
                                "transfer-bound?[2J [clock: absent]");
    EXPECT_EQ(trace_plot_line(json), "00:00:00  gpu0          -1                     |         e  u        1");
    EXPECT_THAT(trace_line(Json{{"unit", "x"}}), HasSubstr("P_p     -"));
}

} // namespace
} // namespace fathom::agent
