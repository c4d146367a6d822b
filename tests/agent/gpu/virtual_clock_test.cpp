// The virtual clock of the stand-in for NVIDIA's driver: what driver_calls finds of it, and several programs on a card.
#include "tests/agent/gpu/gpu_sharing.hpp"
#include "tests/support/standin_gpu/card_books.hpp"

#include <fstream>

namespace fathom::gpu {
namespace {

/// As driver_calls_clock.cpp expects them.
const std::map<std::string, std::string> kByTheClock{
    {"LD_PRELOAD", ""},
    {"FATHOM_STANDIN_CLOCK", "virtual"},
    {"FATHOM_STANDIN_COSTS", "call-ns=1000 launch-ns=5000 copy-latency-ns=10000 copy-bytes-per-us=1024 "
                             "memory-bytes-per-us=65536"}};

class VirtualClock : public GpuSharing {
  protected:
    void expect_good(const std::string& way) const
    {
        const auto program = call(way, kByTheClock);
        EXPECT_EQ(program->wait(), 0) << program->output();
    }
};

TEST_F(VirtualClock, CopiesCostTheirBytesByTheBandwidthAndTheLatency)
{
    expect_good("clock_copies");
}

TEST_F(VirtualClock, LaunchesCostTheirOverheadAndKernelsWhatTheyDeclare)
{
    expect_good("clock_launches");
}

TEST_F(VirtualClock, QuestionsAreAnsweredByIt)
{
    expect_good("clock_questions");
}

TEST_F(VirtualClock, StreamsAndEnginesRunBesideEachOther)
{
    expect_good("clock_streams");
}

TEST_F(VirtualClock, AGraphCostsOneLaunchAndTheTimeOfItsNodes)
{
    expect_good("clock_graph");
}

TEST_F(VirtualClock, SaysTheSameWheneverTheSameCallsAreMade)
{
    const auto first = call("clock_streams", kByTheClock);
    EXPECT_EQ(first->wait(), 0) << first->output();
    const auto second = call("clock_streams", kByTheClock);
    EXPECT_EQ(second->wait(), 0) << second->output();

    EXPECT_EQ(first->output(), second->output());
}

TEST_F(VirtualClock, ProgramsOnACardWaitForEachOthersKernelsAndCopies)
{
    const auto first = call("clock_first", kByTheClock);
    ASSERT_TRUE(first->wait_for_output("clock_first")) << first->output();

    expect_good("clock_second");
    go_on("clock_first");
    EXPECT_EQ(first->wait(), 0) << first->output();
    expect_good("clock_later");
}

TEST_F(VirtualClock, IsNotThereUnlessItIsAskedFor)
{
    const auto program = call("clock_real", {{"LD_PRELOAD", ""}});

    EXPECT_EQ(program->wait(), 0) << program->output();
}

/// Two that do not fit beside each other, and swap everything. Without latency the card's engine has been busy with the
/// bytes that were moved, and with nothing else.
TEST_F(VirtualClock, SwitchesCostTheBytesThatTheyMove)
{
    start();
    const std::map<std::string, std::string> options{{"iterations", "12"},      {"weights-mib", "4"},
                                                     {"activations-mib", "20"}, {"layers", "2"},
                                                     {"tell", "yes"},           {"hold", "yes"}};
    const std::map<std::string, std::string> variables{
        {"FATHOM_GPU_SWAP", "everything"},
        {"FATHOM_STANDIN_CLOCK", "virtual"},
        {"FATHOM_STANDIN_COSTS", "copy-latency-ns=0 copy-bytes-per-us=1024"}};
    const auto first = train("first", options, variables);
    const auto second = train("second", options, variables);

    EXPECT_EQ(first->wait(), 0) << first->output();
    EXPECT_EQ(second->wait(), 0) << second->output();
    standin::CardBooks::Shared books{};
    std::ifstream(folder_ / "cards" / kGpu, std::ios::binary).read(reinterpret_cast<char*>(&books), sizeof books);
    const std::int64_t copied_ns = books.busy_ns[static_cast<std::size_t>(standin::Engine::kCopy)];
    EXPECT_GT(copied_ns, 0);
    EXPECT_EQ(copied_ns % 2'048'000, 0) << "pieces of 2 MiB, at 1 us for each KiB: " << copied_ns;
    EXPECT_GE(books.latest_ns, copied_ns) << "the programs have waited for it";
}

} // namespace
} // namespace fathom::gpu
