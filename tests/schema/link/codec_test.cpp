#include "schema/link/messages.hpp"

#include <gmock/gmock.h>

namespace fathom::link {
namespace {

using testing::HasSubstr;

template <class Kind>
Kind round_trip(Kind body)
{
    const Message message = make_message(std::move(body));
    auto decoded = decode(encode(message));
    EXPECT_TRUE(std::holds_alternative<Message>(decoded));
    Message& again = std::get<Message>(decoded);
    EXPECT_EQ(again.id, message.id);
    EXPECT_TRUE(std::holds_alternative<Kind>(again.body));
    return std::get<Kind>(std::move(again.body));
}

Json envelope(const std::string& type, const Json& body)
{
    return {{"v", 1}, {"id", MessageId::make().value}, {"type", type}, {"body", body}};
}

DecodeFailure failure_of(const std::string& text)
{
    auto decoded = decode(text);
    EXPECT_TRUE(std::holds_alternative<DecodeFailure>(decoded)) << text;
    return std::get<DecodeFailure>(decoded);
}

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

AttemptEnded ended_as(AttemptOutcome outcome)
{
    AttemptEnded ended;
    ended.end.attempt_id = AttemptId::make();
    ended.end.outcome = outcome;
    ended.end.detail = "why";
    return ended;
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

TEST(Decode, AnEndIsOneWhateverANewerAgentCallsIt)
{
    Json message = Json::parse(encode(make_message(ended_as(AttemptOutcome::kPreempted))));
    const auto end_of = [&] { return std::get<AttemptEnded>(std::get<Message>(decode(message.dump())).body).end; };

    message["body"]["exact_outcome"] = "evicted";
    EXPECT_EQ(end_of().outcome, AttemptOutcome::kLost) << "as the agent has it for older servers";
    EXPECT_EQ(end_of().detail, "why");

    message["body"]["outcome"] = "evicted";
    EXPECT_EQ(end_of().outcome, AttemptOutcome::kLost);
    EXPECT_EQ(end_of().detail, "ended as evicted, which this version does not know: why");

    message["body"]["detail"] = std::string(4000, 'x');
    EXPECT_EQ(end_of().detail.size(), 4000U);
    message["body"]["outcome"] = std::string(33, 'x');
    EXPECT_THAT(describe(failure_of(message.dump()).error), HasSubstr("outcome"));
}

TEST(Codec, AHelloSaysWhichLibraryIsHeldOrDoesNotAsAnOlderAgentDoesNot)
{
    Hello hello{.agent_version = "1.2.3", .catalog = {}, .inventory = {}};
    EXPECT_FALSE(Json::parse(encode(make_message(hello)))["body"].contains("library_digest"));
    EXPECT_EQ(round_trip(hello).library_digest, std::nullopt);

    for (const std::string digest : {"", "abc"}) {
        hello.library_digest = digest;
        EXPECT_EQ(round_trip(hello).library_digest, digest);
    }
}

TEST(Codec, KeepsManifestsOfALibraryThatItDoesNotKnow)
{
    const Json newer{{"id", "dgemm"}, {"from_the_future", true}};
    MatchLibrary library{.digest = "abc", .operators = Json::array({newer})};
    EXPECT_FALSE(needs_ack(library));
    EXPECT_EQ(round_trip(library).operators, library.operators);

    library.operators = Json(std::vector<Json>(kMaxLibraryOperators + 1, Json::object()));
    EXPECT_THAT(describe(failure_of(encode(make_message(library))).error), HasSubstr("operators"));
}

TEST(Codec, AHelloSaysWhichAuthoritiesAreTrustedOrDoesNotAsAnOlderAgentDoesNot)
{
    Hello hello{.agent_version = "1.2.3", .catalog = {}, .inventory = {}};
    EXPECT_FALSE(Json::parse(encode(make_message(hello)))["body"].contains("authorities"));
    EXPECT_EQ(round_trip(hello).authorities, std::nullopt);

    for (const std::vector<std::string>& trusted : {std::vector<std::string>(), {"one", "two"}}) {
        hello.authorities = trusted;
        EXPECT_EQ(round_trip(hello).authorities, trusted);
    }
    hello.authorities = std::vector<std::string>(kMaxAuthorities + 1, "one");
    EXPECT_THAT(describe(failure_of(encode(make_message(hello))).error), HasSubstr("authorities"));
}

TEST(Codec, AHelloSaysWhichHostJobsRunOnOrDoesNotAsAnOlderAgentDoesNot)
{
    Hello hello{.agent_version = "1.2.3", .catalog = {}, .inventory = {}};
    EXPECT_FALSE(Json::parse(encode(make_message(hello)))["body"].contains("host_id"));
    EXPECT_EQ(round_trip(hello).host_id, "");

    hello.host_id = "abc";
    EXPECT_EQ(round_trip(hello).host_id, "abc");

    hello.host_id = std::string(129, 'x');
    EXPECT_THAT(describe(failure_of(encode(make_message(hello))).error), HasSubstr("host_id"));
}

TEST(Codec, TrustedAuthoritiesAreAcknowledgedAndBounded)
{
    TrustedAuthorities trusted{.certificates_pem = "one", .signer_sha256 = "abc", .renew_within_s = 2.5};
    EXPECT_TRUE(needs_ack(trusted));
    EXPECT_EQ(round_trip(trusted).certificates_pem, "one");
    EXPECT_EQ(round_trip(trusted).signer_sha256, "abc");
    EXPECT_EQ(round_trip(trusted).renew_within_s, 2.5);

    trusted.certificates_pem = std::string(kMaxAuthoritiesBytes + 1, 'x');
    EXPECT_THAT(describe(failure_of(encode(make_message(trusted))).error), HasSubstr("certificates_pem"));
}

TEST(Codec, SaysWhichMessagesAreRepeated)
{
    EXPECT_TRUE(needs_ack(StartAttempt{}));
    EXPECT_TRUE(needs_ack(AttemptEnded{}));
    EXPECT_FALSE(needs_ack(Heartbeat{}));
    EXPECT_FALSE(needs_ack(Ack{}));
}

TEST(Decode, RefusesWhatIsNoMessage)
{
    for (const std::string text : {"", "null", "[]", "{}", "{\"v\": 1", "\xff", "{\"v\":\"1\",\"id\":1}"}) {
        const DecodeFailure failure = failure_of(text);
        EXPECT_FALSE(failure.id) << text;
        EXPECT_FALSE(failure.error.detail.empty()) << text;
    }
}

TEST(Decode, RefusesAnotherVersionByName)
{
    Json message = envelope("heartbeat", {{"load_1min", 0}, {"running_attempts", 0}, {"spooled_messages", 0}});
    message["v"] = 2;

    const DecodeFailure failure = failure_of(message.dump());

    ASSERT_TRUE(failure.id);
    EXPECT_EQ(failure.id->value, message["id"].get<std::string>());
    EXPECT_THAT(failure.error.detail, HasSubstr("version 2"));
}

TEST(Decode, RefusesAnUnknownTypeByName)
{
    const DecodeFailure failure = failure_of(envelope("teleport", Json::object()).dump());

    EXPECT_TRUE(failure.id);
    EXPECT_THAT(failure.error.detail, HasSubstr("teleport"));
}

TEST(Decode, NamesEveryWrongField)
{
    const Json body{{"attempt_id", "att_x"}, {"stream", "stdin"}, {"offset_bytes", -1}, {"data_base64", "!"}};

    const DecodeFailure failure = failure_of(envelope("attempt_output", body).dump());

    EXPECT_TRUE(failure.id);
    ASSERT_EQ(failure.error.fields.size(), 4U);
    EXPECT_EQ(failure.error.fields[0].field, "body.attempt_id");
}

TEST(Decode, NamesNoMoreFaultsThanAPersonReads)
{
    const Json body{{"inventory", Json(std::vector<int>(1000))}};

    EXPECT_EQ(failure_of(envelope("hello", body).dump()).error.fields.size(), 101U);
}

TEST(Decode, RefusesProcessorsThatCannotBe)
{
    for (const Json& cpu : {Json(-1), Json(std::numeric_limits<std::uint64_t>::max()), Json(0.5)}) {
        const Json body{
            {"attempt_id", AttemptId::make().value}, {"started_at", "2026-11-20T11:04:14Z"}, {"cpus", {cpu}}};

        const DecodeFailure failure = failure_of(envelope("attempt_started", body).dump());

        EXPECT_EQ(failure.error.fields.at(0).field, "body.cpus") << cpu;
    }
}

TEST(Decode, RefusesAnOrderWithoutAProgram)
{
    const Json body{{"attempt_id", AttemptId::make().value},
                    {"job_id", JobId::make().value},
                    {"name", "n"},
                    {"label", "job"},
                    {"unit_type", "u"},
                    {"unit_count", 1},
                    {"wall_limit_s", 1}};

    EXPECT_THAT(describe(failure_of(envelope("start_attempt", body).dump()).error), HasSubstr("command"));
}

TEST(Decode, RefusesTooLargeAndTooDeep)
{
    EXPECT_EQ(failure_of(std::string(kMaxMessageBytes + 1, ' ')).error.code, Errc::kTooLarge);
    EXPECT_EQ(failure_of(std::string(1000, '[')).error.code, Errc::kInvalid);
}

TEST(Codec, AWelcomeAsksForBalanceStepsOrDoesNotAsAnOlderServerDoesNot)
{
    Welcome welcome{.server_version = "1.2.3", .center_id = "cen_1", .center_name = "alpha", .stop = {}, .forget = {}};
    const Json older = Json::parse(encode(make_message(welcome)))["body"];
    EXPECT_FALSE(older.contains("balance_steps"));
    EXPECT_EQ(round_trip(welcome).balance_steps, 0);

    welcome.balance_steps = 500;
    welcome.balance_pause_s = 1.5;
    EXPECT_EQ(round_trip(welcome).balance_steps, 500);
    EXPECT_EQ(round_trip(welcome).balance_pause_s, 1.5);
}

TEST(Codec, ATargetTellsOfARefusedRequestOrDoesNotAsAnOlderServerDoesNot)
{
    SubUnitTarget target{"vgpu", 4, 50, 50};
    const Json older = Json::parse(encode(make_message(target)))["body"];
    EXPECT_FALSE(older.contains("refused_request"));
    EXPECT_FALSE(older.contains("refusal"));
    EXPECT_FALSE(round_trip(target).refusal);

    target.refusal = SubUnitRefusal{MessageId::make(), "the driver is busy"};
    const SubUnitTarget again = round_trip(target);
    ASSERT_TRUE(again.refusal);
    EXPECT_EQ(again.refusal->request, target.refusal->request);
    EXPECT_EQ(again.refusal->reason, "the driver is busy");
    EXPECT_EQ(again.held_count, 50);
}

TEST(Codec, BalanceStepsAreRepeatedUntilAcknowledgedAndBounded)
{
    BalanceSteps steps;
    steps.steps.assign(kMaxBalanceSteps, {.unit = "gpu0", .outcome = "no_sample"});
    EXPECT_TRUE(needs_ack(steps));
    EXPECT_EQ(round_trip(steps), steps);
    steps.steps.push_back(steps.steps.front());
    EXPECT_THAT(describe(failure_of(encode(make_message(steps))).error), HasSubstr("steps"));
}

} // namespace
} // namespace fathom::link
