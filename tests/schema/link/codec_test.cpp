#include "schema/link/messages.hpp"
#include "tests/schema/link/coding.hpp"

#include <gmock/gmock.h>

namespace fathom::link {
namespace {

using test::ended_as;
using test::envelope;
using test::failure_of;
using test::round_trip;
using testing::HasSubstr;

TEST(Codec, KeepsAnOrder)
{
    StartAttempt start;
    start.order.attempt_id = AttemptId::make();
    start.order.job_id = JobId::make();
    start.order.name = "ein Würfel 🎲";
    start.order.label = "probe";
    start.order.unit_type = "core";
    start.order.unit_count = 3;
    start.order.center_chooses = true;
    start.order.script = "#!/bin/sh\nexit 0\n";
    start.order.environment = {{"A", "b"}};
    start.order.files = {{"probe-task.json", "{}"}};
    start.order.inputs = {{"https://data.example/x?key=1", "in/x", std::string(64, '0'), 5},
                          {"file:///shared/y", "y", "", std::nullopt}};
    start.order.outputs = {{"out/z", "https://data.example/z?key=2"}};
    start.order.wall_limit_s = 70;

    const AttemptOrder order = round_trip(start).order;

    EXPECT_EQ(order.attempt_id, start.order.attempt_id);
    EXPECT_EQ(order.name, start.order.name);
    EXPECT_TRUE(order.center_chooses);
    EXPECT_EQ(order.script, start.order.script);
    EXPECT_TRUE(order.command.empty());
    EXPECT_EQ(order.files, start.order.files);
    EXPECT_EQ(order.inputs, start.order.inputs);
    EXPECT_EQ(order.outputs, start.order.outputs);
}

TEST(Codec, TellsWhoseJobAnOrderIsOnlyWhereThatIsKnown)
{
    StartAttempt start;
    start.order.attempt_id = AttemptId::make();
    start.order.job_id = JobId::make();
    start.order.label = "job";
    start.order.unit_type = "core";
    start.order.command = {"true"};
    EXPECT_FALSE(Json::parse(encode(make_message(start)))["body"].contains("owner")) << "as older peers have it";
    EXPECT_EQ(round_trip(start).order.owner, AttemptOwner());

    start.order.owner = {"tok_x", "ann", "physics"};
    EXPECT_EQ(round_trip(start).order.owner, start.order.owner);
    start.order.owner.account.clear();
    EXPECT_EQ(round_trip(start).order.owner, start.order.owner);
}

TEST(Codec, SaysWhatAJobIsBoundByOnlyWhereThatIsKnown)
{
    StartAttempt start;
    start.order.attempt_id = AttemptId::make();
    start.order.job_id = JobId::make();
    start.order.label = "job";
    start.order.unit_type = "gpu-part";
    start.order.command = {"true"};
    Json body = Json::parse(encode(make_message(start)))["body"];
    EXPECT_FALSE(body.contains("gpu_class")) << "as older peers have it";
    EXPECT_EQ(round_trip(start).order.kernel_class, KernelClass::kUnknown);

    start.order.kernel_class = KernelClass::kMemory;
    EXPECT_EQ(round_trip(start).order.kernel_class, KernelClass::kMemory);

    body["gpu_class"] = "of a newer server";
    const Message newer = std::get<Message>(decode(envelope("start_attempt", body).dump()));
    EXPECT_EQ(std::get<StartAttempt>(newer.body).order.kernel_class, KernelClass::kUnknown);
    body["gpu_class"] = std::string(33, 'x');
    EXPECT_THAT(describe(failure_of(envelope("start_attempt", body).dump()).error), HasSubstr("gpu_class"));
}

TEST(Codec, SaysWhichPairsOfJobsAreKnownOnlyWhereSomeAre)
{
    StartAttempt start;
    start.order.attempt_id = AttemptId::make();
    start.order.job_id = JobId::make();
    start.order.label = "job";
    start.order.unit_type = "gpu-part";
    start.order.command = {"true"};
    const Json none = Json::parse(encode(make_message(start)))["body"];
    EXPECT_FALSE(none.contains("gpu_kind")) << "as older peers have it";
    EXPECT_FALSE(none.contains("gpu_pairs"));
    EXPECT_FALSE(none.contains("turn_pairs"));
    EXPECT_TRUE(round_trip(start).order.gpu_pairs.empty());

    const GpuPair pair{.a = "a",
                       .b = "b",
                       .a_class = KernelClass::kMemory,
                       .a_share = 0.5,
                       .b_share = 0.75,
                       .count = 2,
                       .a_spread = 0.25};
    start.order.gpu_kind = "b";
    start.order.gpu_pairs.assign(kMaxGpuPairs, pair);
    start.order.turn_pairs.assign(kMaxGpuPairs, pair);
    EXPECT_EQ(round_trip(start).order.gpu_kind, "b");
    EXPECT_EQ(round_trip(start).order.turn_pairs, start.order.turn_pairs);
    EXPECT_EQ(round_trip(start).order.gpu_pairs, start.order.gpu_pairs);

    Json body = Json::parse(encode(make_message(start)))["body"];
    body["gpu_pairs"][0]["a_share"] = 0;
    EXPECT_THAT(describe(failure_of(envelope("start_attempt", body).dump()).error), HasSubstr("gpu_pairs[].a_share"));
    body["gpu_pairs"][0] = to_json(pair);
    body["gpu_pairs"].push_back(to_json(pair));
    EXPECT_THAT(describe(failure_of(envelope("start_attempt", body).dump()).error), HasSubstr("0 to 64 items"));
}

TEST(Codec, SaysBesideWhomAnAttemptStartsOnlyWhereThereIsSomebody)
{
    AttemptStarted started;
    started.attempt_id = AttemptId::make();
    Json body = Json::parse(encode(make_message(started)))["body"];
    EXPECT_FALSE(body.contains("neighbours")) << "as older peers have it";
    EXPECT_EQ(round_trip(started).neighbours, std::nullopt);

    started.neighbours = DeviceNeighbours{.compute_count = 2,
                                          .memory_count = 1,
                                          .unknown_count = 0,
                                          .expected_share = 0.25,
                                          .expected_spread = 0.125,
                                          .least_share_beside = 0.5,
                                          .basis = PairSource::kMeasured};
    for (const PairSource basis :
         {PairSource::kDefault, PairSource::kClassAverage, PairSource::kCompleted, PairSource::kMeasured}) {
        started.neighbours->basis = basis;
        EXPECT_EQ(round_trip(started).neighbours, started.neighbours);
    }
    started.neighbours = DeviceNeighbours{.unknown_count = 3};
    EXPECT_EQ(round_trip(started).neighbours, started.neighbours);

    body["neighbours"] = {{"measured", true}};
    const auto basis_told = [&] {
        const Message told = std::get<Message>(decode(envelope("attempt_started", body).dump()));
        return std::get<AttemptStarted>(told.body).neighbours.value().basis;
    };
    EXPECT_EQ(basis_told(), PairSource::kMeasured) << "of an older agent";
    body["neighbours"]["basis"] = "of a newer agent";
    EXPECT_EQ(basis_told(), PairSource::kClassAverage);

    body["neighbours"] = {{"memory", -1}, {"expected_share", 5}};
    const std::string wrong = describe(failure_of(envelope("attempt_started", body).dump()).error);
    EXPECT_THAT(wrong, HasSubstr("neighbours.memory"));
    EXPECT_THAT(wrong, HasSubstr("neighbours.expected_share"));
}

TEST(Codec, RefusesAnOwnerThatIsHalfSaid)
{
    StartAttempt start;
    start.order.attempt_id = AttemptId::make();
    start.order.job_id = JobId::make();
    start.order.label = "job";
    start.order.unit_type = "core";
    start.order.command = {"true"};
    Json body = Json::parse(encode(make_message(start)))["body"];
    body["owner"] = {{"account", "ann"}};

    const DecodeFailure failure = failure_of(envelope("start_attempt", body).dump());

    EXPECT_THAT(describe(failure.error), HasSubstr("owner.submitter"));
}

TEST(Codec, KeepsEveryByteOfOutput)
{
    AttemptOutput output;
    output.attempt_id = AttemptId::make();
    output.stream = "stderr";
    output.offset_bytes = 1LL << 40U;
    for (int byte = 0; byte < 256; ++byte)
        output.data.push_back(static_cast<char>(byte));

    const AttemptOutput again = round_trip(output);

    EXPECT_EQ(again.data, output.data);
    EXPECT_EQ(again.offset_bytes, output.offset_bytes);
}

TEST(Codec, TakesTheLargestPieceOfOutput)
{
    AttemptOutput output;
    output.attempt_id = AttemptId::make();
    output.stream = "stdout";
    output.data.assign(kMaxOutputBytes, 'x');

    EXPECT_EQ(round_trip(output).data.size(), kMaxOutputBytes);
}

TEST(Codec, KeepsWhatIsAbsentAbsent)
{
    AttemptEnded ended;
    ended.end.attempt_id = AttemptId::make();
    ended.end.outcome = AttemptOutcome::kFailedToStart;

    const AttemptEnd end = round_trip(ended).end;

    EXPECT_FALSE(end.exit_code);
    EXPECT_FALSE(end.signal);
    EXPECT_FALSE(end.started_at);
    EXPECT_FALSE(round_trip(Ack{MessageId::make(), std::nullopt}).error);
}

TEST(Codec, KeepsWhatAnAttemptHasStored)
{
    AttemptEnded ended;
    ended.end.attempt_id = AttemptId::make();
    ended.end.outputs = {{"out/z", 1LL << 40U, std::string(64, 'a')}};

    EXPECT_EQ(round_trip(ended).end.outputs, ended.end.outputs);
    EXPECT_EQ(encode(make_message(AttemptEnded{})).find("outputs"), std::string::npos) << "as older peers have it";
}

TEST(Codec, KeepsOnWhichNodesAnAttemptRanAndWhatTheseTook)
{
    AttemptEnded ended;
    ended.end.attempt_id = AttemptId::make();
    ended.end.nodes = "n[1-4]";
    ended.end.energy_j = kMaxEnergy_j;

    EXPECT_EQ(round_trip(ended).end.nodes, "n[1-4]");
    EXPECT_EQ(round_trip(ended).end.energy_j, kMaxEnergy_j);
    for (const char* field : {"nodes", "energy_j"})
        EXPECT_EQ(encode(make_message(AttemptEnded{})).find(field), std::string::npos) << "as older peers have it";
    ++ended.end.energy_j;
    EXPECT_TRUE(std::holds_alternative<DecodeFailure>(decode(encode(make_message(ended)))));
    ended.end.energy_j = 0;
    ended.end.nodes = std::string(kMaxNodesBytes + 1, 'n');
    EXPECT_TRUE(std::holds_alternative<DecodeFailure>(decode(encode(make_message(ended)))));
}

TEST(Codec, KeepsWhatStagingTook)
{
    AttemptEnded ended;
    ended.end.attempt_id = AttemptId::make();
    ended.end.staging = {.in_s = 1.5, .in_bytes = 1LL << 40U, .in_cached_bytes = 5, .out_s = 0.25, .out_bytes = 7};

    EXPECT_EQ(round_trip(ended).end.staging, ended.end.staging);
    EXPECT_EQ(encode(make_message(AttemptEnded{})).find("staging"), std::string::npos) << "as older peers have it";
}

TEST(Codec, OutcomesThatAnOlderServerDoesNotKnowStandBesideOnesThatItKnows)
{
    const std::map<AttemptOutcome, std::string> older{{AttemptOutcome::kOutOfMemory, "signalled"},
                                                      {AttemptOutcome::kNodeFailure, "lost"},
                                                      {AttemptOutcome::kPreempted, "lost"}};
    for (const auto& [outcome, word] : older) {
        SCOPED_TRACE(to_string(outcome));
        const Json body = Json::parse(encode(make_message(ended_as(outcome))))["body"];

        EXPECT_EQ(body["outcome"], word);
        EXPECT_EQ(body["exact_outcome"], std::string(to_string(outcome)));
        EXPECT_EQ(body["detail"], "why");
        EXPECT_EQ(round_trip(ended_as(outcome)).end.outcome, outcome);
    }
    EXPECT_FALSE(Json::parse(encode(make_message(ended_as(AttemptOutcome::kLost))))["body"].contains("exact_outcome"));
}

TEST(Codec, SaysWhichMessagesAreRepeated)
{
    EXPECT_TRUE(needs_ack(StartAttempt{}));
    EXPECT_TRUE(needs_ack(AttemptEnded{}));
    EXPECT_FALSE(needs_ack(Heartbeat{}));
    EXPECT_FALSE(needs_ack(Ack{}));
}

} // namespace
} // namespace fathom::link
