#include "agent/catalog/host_id.hpp"
#include "agent/link/enrolment.hpp"
#include "core/base/file.hpp"
#include "tests/agent/support/agent_link.hpp"
#include "tests/agent/support/executor_fixture.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <set>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace fathom::agent {
namespace {

using test::AgentLink;
using test::FakeMetascheduler;
using test::is;
using test::shell_order;
using test::wait_until;
using testing::HasSubstr;

TEST_F(AgentLink, EnrolsOnceAndKeepsItsFilesSecret)
{
    ASSERT_EQ(enrol(), 0) << agent_.log();

    for (const char* name : {"agent-key.pem", "agent-cert.pem", "ca.pem", "agent.json"}) {
        struct stat facts{};
        ASSERT_EQ(::stat((agent_.own_folder() / name).c_str(), &facts), 0) << name;
        EXPECT_EQ(facts.st_mode & 0777U, 0600U) << name;
        EXPECT_NE(facts.st_uid, 0U) << name << ": who hears the network is not root";
    }
    EXPECT_EQ(enrol(), 1);
    EXPECT_THAT(agent_.log(), HasSubstr("--force"));
    EXPECT_EQ(enrol({"--force"}), 0);
}

TEST_F(AgentLink, SaysWhyEnrolmentFailedAndWhatToDo)
{
    write_file(token_file_, "fen_wrong", 0600).value();

    EXPECT_EQ(enrol(), 1);

    EXPECT_THAT(agent_.log(), HasSubstr("the token is not valid"));
    EXPECT_THAT(agent_.log(), HasSubstr("enrolment-token"));
    EXPECT_THAT(agent_.log(), testing::Not(HasSubstr("fen_wrong")));
    EXPECT_FALSE(std::filesystem::exists(agent_.own_folder() / "agent.json"));
}

TEST_F(AgentLink, RefusesToRunBeforeItIsEnrolled)
{
    EXPECT_EQ(agent_.call({"run", "--state-dir", agent_.state_dir().string()}), 1);
    EXPECT_THAT(agent_.log(), HasSubstr("fathom-agent enrol"));
}

TEST_F(AgentLink, SaysWhatSeparatesJobsAndServesWithLessOnlyWhereItMay)
{
    start_enrolled();
    const Json facts = last_hello().catalog.facts;
    const Json isolation = facts["isolation"];
    std::set<std::string> limits;
    for (const Json& controller : facts["cgroup_controllers"])
        limits.insert(controller.get<std::string>());
    const bool has_all = isolation["uid_per_job"] && isolation["pid_namespace"] && isolation["mount_namespace"] &&
                         limits.contains("memory") && limits.contains("pids");
    EXPECT_EQ(agent_.log().find("jobs_not_isolated") == std::string::npos, has_all) << agent_.log();
    EXPECT_EQ(isolation["uid_per_job"].get<bool>(), ::getuid() == 0);
    if (::getuid() != 0) {
        const LocalExecutor here({.attempts = {},
                                  .supervisor = {},
                                  .programs = test::agent_program().parent_path(),
                                  .hidden = agent_.state_dir()});
        EXPECT_EQ(isolation, here.facts()["isolation"]) << "that the agent keeps its memory private takes nothing";
    }
    agent_.stop(SIGTERM);

    write_config("core", "require_isolation = \"on\"\nrun_as_uids = \"\"\n"); // so that jobs share a user

    EXPECT_EQ(agent_.call({"run", "--state-dir", agent_.state_dir().string(), "--config", agent_.config().string()}),
              1);
    EXPECT_THAT(agent_.log(), HasSubstr("require_isolation is on, but at this center: jobs share a user"));
}

TEST_F(AgentLink, HoldsJobsToTheSharesThatItsSettingsName)
{
    write_config("core", "io_reads_per_s_per_processor = 100000\ndisk_files_per_processor = 50\n");
    start_enrolled();
    EXPECT_TRUE(last_hello().catalog.facts["isolation"].contains("limits_io"));
    const AttemptOrder order = shell_order("i=0; while [ $i -lt 100 ]; do : >$i; i=$((i + 1)); done; sleep 1000");

    server_.send(link::StartAttempt{order});
    const AttemptEnd end = server_.wait_for_attempt<link::AttemptEnded>(order.attempt_id).end;

    EXPECT_EQ(end.detail, "it made more files than its share of 50 (disk_files_per_processor)");
}

TEST_F(AgentLink, KeepsItsKeyFromJobsOrSaysThatItCannot)
{
    start_enrolled();
    const AttemptOrder order =
        shell_order("cat " + (agent_.own_folder() / "agent-key.pem").string() + " >/dev/null 2>&1 && exit 3; exit 4");

    server_.send(link::StartAttempt{order});
    const AttemptEnd end = server_.wait_for_attempt<link::AttemptEnded>(order.attempt_id).end;

    const bool can_read = agent_.log().find("jobs_can_read_agent_files") != std::string::npos;
    EXPECT_EQ(end.exit_code, can_read ? 3 : 4) << end.detail;
    EXPECT_EQ(last_hello().catalog.facts["isolation"]["hides_agent_files"].get<bool>(), !can_read);
}

TEST_F(AgentLink, SaysWhichHostItsJobsRunOn)
{
    start_enrolled();

    EXPECT_EQ(last_hello().host_id, host_id(boot_id()));
    EXPECT_EQ(last_hello().host_id.size(), 64U);
}

TEST_F(AgentLink, RunsAnOrderAndTellsItsStoryInOrder)
{
    start_enrolled();
    EXPECT_EQ(last_hello().catalog.unit_types.at(0).name, "core");
    const AttemptOrder order = shell_order("echo hello; echo oops >&2; exit 4");

    const MessageId sent = server_.send(link::StartAttempt{order});
    const auto ended = server_.wait_for_attempt<link::AttemptEnded>(order.attempt_id);

    EXPECT_FALSE(wait_for_ack(sent).error);
    EXPECT_EQ(ended.end.exit_code, 4);
    std::vector<std::string_view> story;
    std::vector<std::string> output; // of two streams, which are read one after the other
    for (const link::Message& message : server_.received()) {
        if (const auto* piece = std::get_if<link::AttemptOutput>(&message.body)) output.push_back(piece->data);
        if (!is<link::Hello>(message)) story.push_back(link::type_name(message.body));
    }
    EXPECT_THAT(story,
                testing::ElementsAre("ack", "attempt_started", "attempt_output", "attempt_output", "attempt_ended"));
    EXPECT_THAT(output, testing::UnorderedElementsAre("hello\n", "oops\n"));
    const auto folder = agent_.state_dir() / "attempts" / order.attempt_id.value;
    wait_until([&] { return !std::filesystem::exists(folder); }, "the folder's removal");
}

TEST_F(AgentLink, SendsAgainWhatWasNotAcknowledged)
{
    start_enrolled();
    server_.set_acknowledging(false);
    const AttemptOrder order = shell_order("echo hello; while [ ! -e go ]; do sleep 0.05; done");
    server_.send(link::StartAttempt{order});
    server_.wait_for_attempt<link::AttemptOutput>(order.attempt_id);

    server_.drop_connection();
    server_.set_acknowledging(true);
    wait_for_hello(2);
    let_go(order);
    server_.wait_for_attempt<link::AttemptEnded>(order.attempt_id);

    ASSERT_EQ(last_hello().inventory.size(), 1U);
    EXPECT_EQ(last_hello().inventory[0].attempt_id, order.attempt_id);
    std::vector<MessageId> started;
    std::int64_t longest = 0;
    for (const link::Message& message : server_.received()) {
        if (is<link::AttemptStarted>(message)) started.push_back(message.id);
        if (const auto* piece = std::get_if<link::AttemptOutput>(&message.body)) {
            EXPECT_EQ(piece->offset_bytes, 0);
            longest = std::max(longest, static_cast<std::int64_t>(piece->data.size()));
        }
    }
    ASSERT_EQ(started.size(), 2U);
    EXPECT_EQ(started[0], started[1]) << "the same message, not another one";
    EXPECT_EQ(longest, 6);
    EXPECT_EQ(ends_of(order.attempt_id), 1U);
}

TEST_F(AgentLink, AnswersWhichUnitTypesCanRunOperators)
{
    start_enrolled();
    const UnitTypeReport core = last_hello().catalog.unit_types.at(0);
    const MessageId query = MessageId::make();
    server_.send(link::UnitTypesQuery{query, {{core.operators.at(0), false}}});
    server_.send(link::UnitTypesQuery{MessageId::make(), {{"no_such_operator", false}}});

    const auto answers = [](const link::Message& message) { return is<link::UnitTypesAnswer>(message); };
    wait_until([&] { return server_.count(answers) == 2; }, "both answers");

    const auto first = std::get<link::UnitTypesAnswer>(server_.wait_for("an answer", answers).body);
    EXPECT_EQ(first.query_id, query);
    ASSERT_EQ(first.able.size(), 1U);
    EXPECT_EQ(first.able[0].name, "core");
    EXPECT_EQ(first.able[0].unit_count, core.unit_count);
}

TEST_F(AgentLink, PassesOnThatTheCenterWantsToBeMeasured)
{
    ASSERT_EQ(enrol(), 0);
    ASSERT_EQ(agent_.call({"request-probes", "--state-dir", agent_.state_dir().string(), "--reason", "new memory"}), 0)
        << agent_.log();
    server_.set_acknowledging(false);
    agent_.start();
    const auto asked = [](const link::Message& message) { return is<link::ProbeRequest>(message); };
    const auto request = std::get<link::ProbeRequest>(server_.wait_for("a probe request", asked).body);
    EXPECT_EQ(request.reason, "new memory");
    EXPECT_FALSE(std::filesystem::exists(agent_.own_folder() / "probe-request"));

    server_.drop_connection();
    wait_until([&] { return server_.count(asked) == 2; }, "it is said again until it is acknowledged");
}

TEST_F(AgentLink, RefusesWhatItCannotReadByName)
{
    start_enrolled();
    const MessageId malformed = MessageId::make();
    const MessageId unknown = MessageId::make();

    server_.send_raw(R"({"v":1,"id":")" + malformed.value + R"(","type":"start_attempt","body":{}})");
    server_.send_raw(R"({"v":1,"id":")" + unknown.value + R"(","type":"dance","body":{}})");
    server_.send_raw("no JSON at all");
    const MessageId out_of_place = server_.send(link::CatalogChanged{});

    EXPECT_TRUE(wait_for_ack(malformed).error);
    EXPECT_TRUE(wait_for_ack(unknown).error);
    EXPECT_TRUE(wait_for_ack(out_of_place).error);
    EXPECT_EQ(server_.count(is<link::Hello>), 1U) << "the connection stays";
}

/// The center has one unit: the first of the two runs, the other waits for it.
class AgentWithTwoOrders : public AgentLink {
  protected:
    std::pair<AttemptOrder, AttemptOrder> start_two_for_one_unit()
    {
        start_enrolled();
        std::pair orders{shell_order("sleep 1000"), shell_order("sleep 1000")};
        server_.send(link::StartAttempt{orders.first});
        server_.send(link::StartAttempt{orders.second});
        server_.wait_for_attempt<link::AttemptStarted>(orders.first.attempt_id);
        return orders;
    }
};

TEST_F(AgentWithTwoOrders, CancelsWhatRunsAndWhatWaitsForUnits)
{
    const auto [running, waiting] = start_two_for_one_unit();

    server_.send(link::CancelAttempt{waiting.attempt_id, "not wanted"});
    server_.send(link::CancelAttempt{running.attempt_id, "changed my mind"});
    EXPECT_FALSE(wait_for_ack(server_.send(link::CancelAttempt{AttemptId::make(), "unknown"})).error);

    const AttemptEnd first = server_.wait_for_attempt<link::AttemptEnded>(waiting.attempt_id).end;
    EXPECT_EQ(first.outcome, AttemptOutcome::kCancelled);
    EXPECT_EQ(first.detail, "not wanted");
    EXPECT_FALSE(first.started_at);
    const AttemptEnd second = server_.wait_for_attempt<link::AttemptEnded>(running.attempt_id).end;
    EXPECT_EQ(second.outcome, AttemptOutcome::kCancelled);
    EXPECT_TRUE(second.started_at);
}

TEST_F(AgentWithTwoOrders, GivesBackWhatWaitsForUnitsAndNothingElse)
{
    const auto [running, waiting] = start_two_for_one_unit();

    EXPECT_FALSE(wait_for_ack(server_.send(link::RecallAttempt{running.attempt_id, "back"})).error);
    server_.send(link::RecallAttempt{waiting.attempt_id, "back"});

    const AttemptEnd back = server_.wait_for_attempt<link::AttemptEnded>(waiting.attempt_id).end;
    EXPECT_EQ(back.outcome, AttemptOutcome::kCancelled);
    EXPECT_FALSE(back.started_at);
    server_.send(link::CancelAttempt{running.attempt_id, "changed my mind"});
    const AttemptEnd end = server_.wait_for_attempt<link::AttemptEnded>(running.attempt_id).end;
    EXPECT_EQ(end.detail, "changed my mind") << "it was not ended by the call for it";
}

TEST_F(AgentLink, SaysAtOnceWhatItCanNeverRun)
{
    start_enrolled();
    AttemptOrder order = shell_order("true");
    order.unit_count = 1000;

    server_.send(link::StartAttempt{order});

    const AttemptEnd end = server_.wait_for_attempt<link::AttemptEnded>(order.attempt_id).end;
    EXPECT_EQ(end.outcome, AttemptOutcome::kFailedToStart);
    EXPECT_THAT(end.detail, HasSubstr("1000"));
}

TEST_F(AgentLink, FindsItsJobsAgainAfterKill9AndRunsNoneTwice)
{
    start_enrolled();
    const AttemptOrder order = shell_order("echo ran; while [ ! -e go ]; do sleep 0.05; done; echo done");
    const AttemptOrder next = shell_order("echo next");
    server_.send(link::StartAttempt{order});
    wait_for_ack(server_.send(link::StartAttempt{next}));
    server_.wait_for_attempt<link::AttemptStarted>(order.attempt_id);

    agent_.stop(SIGKILL);
    agent_.start();
    wait_for_hello(2);
    server_.send(link::StartAttempt{order}); // as a metascheduler does that missed the ack
    let_go(order);

    EXPECT_EQ(server_.wait_for_attempt<link::AttemptEnded>(order.attempt_id).end.exit_code, 0);
    EXPECT_EQ(server_.wait_for_attempt<link::AttemptEnded>(next.attempt_id).end.exit_code, 0);
    server_.send(link::StartAttempt{order}); // too late: its end is known already
    wait_for_ack(server_.send(link::CancelAttempt{AttemptId::make(), "a later message"}));
    EXPECT_EQ(ends_of(order.attempt_id), 1U);
    std::map<std::int64_t, std::string> pieces; // repeats have equal offsets
    for (const link::Message& message : server_.received()) {
        const auto* piece = std::get_if<link::AttemptOutput>(&message.body);
        if (piece != nullptr && piece->attempt_id == order.attempt_id) pieces[piece->offset_bytes] = piece->data;
    }
    std::string output;
    for (const auto& [offset, data] : pieces)
        output.replace(static_cast<std::size_t>(offset), data.size(), data);
    EXPECT_EQ(output, "ran\ndone\n");
}

TEST_F(AgentLink, ReportsWhatEndedWhileItWasAway)
{
    start_enrolled();
    const AttemptOrder order = shell_order("sleep 0.4; exit 5");
    server_.send(link::StartAttempt{order});
    server_.wait_for_attempt<link::AttemptStarted>(order.attempt_id);

    EXPECT_EQ(agent_.stop(SIGTERM), 0) << agent_.log();
    ::usleep(600'000);
    agent_.start();

    EXPECT_EQ(server_.wait_for_attempt<link::AttemptEnded>(order.attempt_id).end.exit_code, 5);
}

TEST_F(AgentLink, ReportsALossOnceWhenNobodyWatchedTheJob)
{
    start_enrolled();
    const AttemptOrder order = shell_order("sleep 1000");
    server_.send(link::StartAttempt{order});
    server_.wait_for_attempt<link::AttemptStarted>(order.attempt_id);
    const auto file = agent_.state_dir() / "attempts" / order.attempt_id.value / "supervisor.json";

    ::kill(Json::parse(read_file(file).value()).at("pid").get<int>(), SIGKILL);

    EXPECT_EQ(server_.wait_for_attempt<link::AttemptEnded>(order.attempt_id).end.outcome, AttemptOutcome::kLost);
    EXPECT_EQ(ends_of(order.attempt_id), 1U);
}

TEST_F(AgentLink, StopsAndForgetsAsTheGreetingSays)
{
    start_enrolled();
    const AttemptOrder running = shell_order("sleep 1000");
    const AttemptOrder ended = shell_order("true");
    server_.send(link::StartAttempt{ended});
    server_.wait_for_attempt<link::AttemptEnded>(ended.attempt_id);
    server_.send(link::StartAttempt{running});
    server_.wait_for_attempt<link::AttemptStarted>(running.attempt_id);

    server_.set_welcome({"0.1.0", "ctr_x", "test-center", 1, {running.attempt_id}, {ended.attempt_id}});
    server_.drop_connection();

    EXPECT_EQ(server_.wait_for_attempt<link::AttemptEnded>(running.attempt_id).end.outcome, AttemptOutcome::kCancelled);
}

TEST_F(AgentLink, ReportsAChangedCatalogOnSighup)
{
    start_enrolled();
    write_config("renamed");
    const auto is_renamed = [](const link::Message& message) {
        const auto* changed = std::get_if<link::CatalogChanged>(&message.body);
        return changed != nullptr && changed->catalog.unit_types.at(0).name == "renamed";
    };

    agent_.signal(SIGHUP);
    server_.wait_for("the new catalog", is_renamed);

    write_file(agent_.config(), "cores = \"nonsense\"\n").value();
    agent_.signal(SIGHUP);
    wait_until([&] { return agent_.log().find("config_rejected") != std::string::npos; }, "the rejection");
    EXPECT_EQ(server_.count(is<link::CatalogChanged>), 1U);
}

TEST_F(AgentLink, LetsNoSecondAgentUseItsFolder)
{
    start_enrolled();

    EXPECT_EQ(agent_.call({"run", "--state-dir", agent_.state_dir().string()}), 1);
    EXPECT_THAT(agent_.log(), HasSubstr("another fathom-agent"));
}

TEST(Renewal, IsDueAtHalfOfTheCertificatesLife)
{
    net::CertificateFacts facts;
    facts.not_before = Timestamp(std::chrono::hours(0));
    facts.not_after = Timestamp(std::chrono::hours(100));

    EXPECT_FALSE(is_renewal_due(facts, Timestamp(std::chrono::hours(49))));
    EXPECT_TRUE(is_renewal_due(facts, Timestamp(std::chrono::hours(50))));
}

} // namespace
} // namespace fathom::agent
