#include "probes/profile/known_machine.hpp"
#include "probes/profile/remainder_operators.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace fathom::profile {
namespace {

const std::vector<StandIn>& all_stand_ins()
{
    static const std::vector<StandIn> parts = possible_stand_ins();
    return parts;
}

/// Of all that may stand in.
std::vector<TimedStandIn> times_of_a_millisecond()
{
    std::vector<TimedStandIn> times;
    for (const StandIn& part : all_stand_ins())
        times.push_back({part.id, part.parameters, 0.001});
    return times;
}

std::vector<OperatorManifest> manifests_of_stand_ins()
{
    std::vector<OperatorManifest> manifests;
    for (const StandIn& part : all_stand_ins()) {
        OperatorManifest manifest;
        manifest.id = part.id;
        manifests.push_back(std::move(manifest));
    }
    return manifests;
}

TEST(KnownMachine, TellsTheTimeOfEverythingThatMayStandIn)
{
    OwnCode code;
    for (const char* id : {"random_access", "sort", "spmv"}) {
        OwnLoop loop;
        loop.stand_in = id;
        loop.stand_in_similarity = 0.9;
        loop.share = 0.2;
        code.loops.push_back(loop);
    }
    const std::vector<StandIn> parts =
        stand_ins({.memory = 0.4, .compute = 0.4, .io = 0.2, .waiting = 0, .method = ""}, code);
    ASSERT_GE(parts.size(), 10U);

    const std::vector<TimedStandIn> times = times_of_a_millisecond();
    for (const StandIn& part : parts)
        EXPECT_NE(find_time(times, part), nullptr) << part.id << " of " << part.remainder;
    for (std::size_t i = 0; i < times.size(); ++i)
        EXPECT_EQ(find_time(times, all_stand_ins()[i]), &times[i]) << "each size once";
}

TEST(KnownMachine, ATimeIsThatOfTheSameSizeWhateverElseThereIsToChoose)
{
    const std::vector<TimedStandIn> times{{"sort", {{"n", 1000}}, 0.1},
                                          {"sort", {{"n", 2000}, {"seed", 7}}, 0},
                                          {"sort", {{"n", 2000}, {"seed", 7}}, 0.2}};
    EXPECT_EQ(find_time(times, {"compute", "sort", {{"n", 2000}}}), &times[2]);
    EXPECT_EQ(find_time(times, {"compute", "sort", {{"n", 3000}}}), nullptr);
    EXPECT_EQ(find_time(times, {"compute", "spmv", {{"n", 1000}}}), nullptr);
}

TEST(KnownMachine, CountsStandInsByKnownTimes)
{
    Profile profile;
    profile.thread_s = 3;
    profile.remainder = {.memory = 0.2, .compute = 0.5, .io = 0, .waiting = 0.3, .method = ""};
    KnownMachine machine;
    machine.stand_ins = times_of_a_millisecond();

    ASSERT_TRUE(add_remainder_operators(profile, manifests_of_stand_ins(), machine));

    ASSERT_EQ(profile.operators.size(), 2U);
    EXPECT_EQ(profile.operators[0].id, "stream_triad");
    EXPECT_EQ(profile.operators[0].count, 600);
    EXPECT_EQ(profile.operators[1].id, "trigonometric");
    EXPECT_EQ(profile.operators[1].count, 1500);
    EXPECT_EQ(profile.operators[1].remainder, "compute");
}

TEST(KnownMachine, IsReadAsItIsWritten)
{
    const KnownMachine machine{2e10, false, {{"sort", {{"n", 1000}}, 0.25}}};

    const Result<KnownMachine> read = parse_known_machine(machine_json(machine));

    ASSERT_TRUE(read);
    EXPECT_DOUBLE_EQ(read->bandwidth_bytes_per_s, 2e10);
    EXPECT_EQ(read->shows_pages, false);
    ASSERT_EQ(read->stand_ins.size(), 1U);
    EXPECT_EQ(read->stand_ins[0].id, "sort");
    EXPECT_EQ(read->stand_ins[0].parameters, (Parameters{{"n", 1000}}));
    EXPECT_DOUBLE_EQ(read->stand_ins[0].each_s, 0.25);

    const Result<KnownMachine> nothing = parse_known_machine(Json::object());
    ASSERT_TRUE(nothing);
    EXPECT_EQ(nothing->bandwidth_bytes_per_s, 0);
    EXPECT_FALSE(nothing->shows_pages.has_value());
    EXPECT_FALSE(parse_known_machine({{"stand_ins", 7}}));
    EXPECT_FALSE(parse_known_machine(Json::array()));
}

} // namespace
} // namespace fathom::profile
