// What decides how an end is taken: a code, and of agents older than that the words that they tell it by.

#include "schema/link/messages.hpp"

#include <gmock/gmock.h>

#include <utility>
#include <vector>

namespace fathom::link {
namespace {

AttemptEnded ended_as(AttemptOutcome outcome, AttemptCause cause, const std::string& detail)
{
    AttemptEnded ended;
    ended.end.attempt_id = AttemptId::make();
    ended.end.outcome = outcome;
    ended.end.cause = cause;
    ended.end.detail = detail;
    return ended;
}

Json written(const AttemptEnded& ended)
{
    return Json::parse(encode(make_message(ended)));
}

AttemptCause cause_of(const Json& message)
{
    const auto decoded = decode(message.dump());
    return std::get<AttemptEnded>(std::get<Message>(decoded).body).end.cause;
}

TEST(ToldCause, IsWhatTheAgentSaysWhateverItsWordsAre)
{
    for (const AttemptCause cause : {AttemptCause::kNone, AttemptCause::kProgramNotStarted,
                                     AttemptCause::kStagingFailed, AttemptCause::kNoLocalUser}) {
        const Json message =
            written(ended_as(AttemptOutcome::kFailedToStart, cause, "staging failed: what a job's program may write"));

        EXPECT_EQ(message["body"]["cause"], std::string(to_string(cause)));
        EXPECT_EQ(cause_of(message), cause);
    }
    EXPECT_EQ(cause_of(written(ended_as(AttemptOutcome::kExited, AttemptCause::kOutputsFailed, "no room"))),
              AttemptCause::kOutputsFailed);
}

TEST(ToldCause, OfAnOlderAgentIsWhatItsWordsBeginWith)
{
    using Words = std::pair<std::string, AttemptCause>;
    const std::vector<Words> told{{"cannot start \"x\": No such file or directory", AttemptCause::kProgramNotStarted},
                                  {"staging failed: https://h/x: 404", AttemptCause::kStagingFailed},
                                  {"no local user: this center has none for ann", AttemptCause::kNoLocalUser},
                                  {"outputs could not be stored: y", AttemptCause::kNone},
                                  {"cannot start a supervisor", AttemptCause::kNone},
                                  {"so it was: no local user: ", AttemptCause::kNone},
                                  {"", AttemptCause::kNone}};
    for (const auto& [detail, cause] : told) {
        SCOPED_TRACE(detail);
        Json message = written(ended_as(AttemptOutcome::kFailedToStart, AttemptCause::kNone, detail));
        message["body"].erase("cause");

        EXPECT_EQ(cause_of(message), cause);
    }
    Json message = written(ended_as(AttemptOutcome::kExited, AttemptCause::kNone, "outputs could not be stored: y"));
    message["body"].erase("cause");
    EXPECT_EQ(cause_of(message), AttemptCause::kOutputsFailed);
}

TEST(ToldCause, IsNoneOfEndsWhoseOutcomeSaysAll)
{
    AttemptEnded good = ended_as(AttemptOutcome::kExited, AttemptCause::kNone, "outputs could not be stored: y");
    good.end.exit_code = 0;
    Json message = written(good);
    EXPECT_FALSE(message["body"].contains("cause")) << "as older peers have it";
    EXPECT_EQ(cause_of(message), AttemptCause::kNone) << "it has an exit code";

    message = written(ended_as(AttemptOutcome::kLost, AttemptCause::kNone, "staging failed: so it says"));
    message["body"]["cause"] = "staging_failed";
    EXPECT_EQ(cause_of(message), AttemptCause::kNone);
}

TEST(ToldCause, IsNoneWhereAnotherOutcomeHasIt)
{
    Json message = written(ended_as(AttemptOutcome::kFailedToStart, AttemptCause::kNone, "x"));
    message["body"]["cause"] = "outputs_failed";
    EXPECT_EQ(cause_of(message), AttemptCause::kNone);

    message = written(ended_as(AttemptOutcome::kExited, AttemptCause::kNone, "x"));
    message["body"]["cause"] = "no_local_user";
    EXPECT_EQ(cause_of(message), AttemptCause::kNone);
}

TEST(ToldCause, OneThatANewerAgentNamesIsNone)
{
    Json message = written(ended_as(AttemptOutcome::kFailedToStart, AttemptCause::kNone, "staging failed: x"));
    message["body"]["cause"] = "no_licence";
    EXPECT_EQ(cause_of(message), AttemptCause::kNone);

    message["body"]["cause"] = std::string(33, 'x');
    EXPECT_TRUE(std::holds_alternative<DecodeFailure>(decode(message.dump())));
}

} // namespace
} // namespace fathom::link
