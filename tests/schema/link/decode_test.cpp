#include "schema/link/messages.hpp"
#include "tests/schema/link/coding.hpp"

#include <gmock/gmock.h>

namespace fathom::link {
namespace {

using test::ended_as;
using test::envelope;
using test::failure_of;
using testing::HasSubstr;

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

} // namespace
} // namespace fathom::link
