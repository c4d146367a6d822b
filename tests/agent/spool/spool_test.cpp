#include "agent/spool/spool.hpp"
#include "tests/agent/support/builders.hpp"
#include "tests/agent/support/no_room.hpp"

#include <gmock/gmock.h>

#include <array>
#include <fcntl.h>
#include <fstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

using test::shell_order;
using test::TemporaryFolder;

link::Message started_message(const AttemptId& id)
{
    return link::make_message(link::AttemptStarted{id, Timestamp{}, {0}, {0}, "core"});
}

TEST(Spool, KnowsAnOrderAfterTheProcessWasKilled)
{
    const TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "spool.db";
    AttemptOrder order = shell_order("echo $X");
    order.environment["X"] = "grüße";
    const link::Message message = started_message(order.attempt_id);

    const pid_t child = ::fork();
    if (child == 0) {
        Spool spool = Spool::open(file).value();
        StoredAttempt attempt;
        attempt.order = order;
        attempt.stage = Stage::kRunning;
        attempt.cpus = {1};
        attempt.devices = {"GPU-0#1/2"};
        const std::array messages{message};
        const bool good = spool.accept(order).value() && spool.save(attempt, messages).has_value();
        ::kill(::getpid(), good ? SIGKILL : SIGTERM); // no destructor, no checkpoint
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_EQ(WTERMSIG(status), SIGKILL);

    Spool spool = Spool::open(file).value();
    const std::vector<StoredAttempt> attempts = spool.attempts().value().attempts;
    ASSERT_EQ(attempts.size(), 1U);
    EXPECT_EQ(attempts[0].order.attempt_id, order.attempt_id);
    EXPECT_EQ(attempts[0].order.environment.at("X"), "grüße");
    EXPECT_EQ(attempts[0].stage, Stage::kRunning);
    EXPECT_THAT(attempts[0].cpus, testing::ElementsAre(1));
    EXPECT_THAT(attempts[0].devices, testing::ElementsAre("GPU-0#1/2"));
    const std::vector<SpooledMessage> messages = spool.messages_after(0, 10).value();
    ASSERT_EQ(messages.size(), 1U);
    EXPECT_EQ(messages[0].text, link::encode(message));
}

TEST(Spool, KnowsTheCauseOfAnEndAfterARestart)
{
    const TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "spool.db";
    StoredAttempt attempt;
    attempt.order = shell_order("true");
    attempt.stage = Stage::kReported;
    attempt.end.emplace();
    attempt.end->attempt_id = attempt.order.attempt_id;
    attempt.end->outcome = AttemptOutcome::kFailedToStart;
    attempt.end->cause = AttemptCause::kStagingFailed;
    {
        Spool spool = Spool::open(file).value();
        ASSERT_TRUE(spool.accept(attempt.order).value());
        ASSERT_TRUE(spool.save(attempt, {}));
    }

    const std::vector<StoredAttempt> stored = Spool::open(file).value().attempts().value().attempts;

    ASSERT_EQ(stored.size(), 1U);
    ASSERT_TRUE(stored[0].end);
    EXPECT_EQ(stored[0].end->cause, AttemptCause::kStagingFailed);
}

TEST(Spool, HasRoomForWhatHappensOnAFullDisk)
{
    if (::getuid() != 0) GTEST_SKIP() << "needs root";
    const TemporaryFolder folder;
    const test::SmallDisk disk(folder.path(), "32m");
    Spool spool = Spool::open(folder.path() / "spool.db").value();
    const int hog = ::open((folder.path() / "hog").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    const std::string block(65536, 'x');
    while (::write(hog, block.data(), block.size()) > 0) {
    }
    ::close(hog);

    for (int i = 0; i < 300; ++i) {
        StoredAttempt attempt;
        attempt.order = shell_order("echo");
        const std::array messages{started_message(attempt.order.attempt_id)};
        ASSERT_TRUE(spool.accept(attempt.order)) << i;
        attempt.stage = Stage::kRunning;
        const Result<void> saved = spool.save(attempt, messages);
        ASSERT_TRUE(saved) << i << ": " << saved.error().detail;
    }
}

TEST(Spool, StoresWhatIsGatheredAtOnceOrNotAtAll)
{
    const TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "spool.db";
    Spool spool = Spool::open(file).value();
    const auto stored = [&] { return Spool::open(file).value().attempts().value().attempts.size(); };
    spool.gather();
    ASSERT_TRUE(spool.accept(shell_order("true")).value());
    ASSERT_TRUE(spool.accept(shell_order("true")).value());
    EXPECT_TRUE(spool.has_changes());
    EXPECT_EQ(spool.attempts().value().attempts.size(), 2U);
    EXPECT_EQ(stored(), 0U);

    ASSERT_TRUE(spool.commit());

    EXPECT_FALSE(spool.has_changes());
    EXPECT_EQ(stored(), 2U);
}

TEST(Spool, KeepsWhatItCannotWriteForTheNextTime)
{
    const TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "spool.db";
    Spool spool = Spool::open(file).value();
    const auto stored = [&] { return Spool::open(file).value().attempts().value().attempts; };
    StoredAttempt attempt;
    attempt.order = shell_order("true");
    const AttemptOrder refused = shell_order("true");
    const std::array messages{started_message(attempt.order.attempt_id)};
    spool.gather();
    ASSERT_TRUE(spool.accept(attempt.order).value());
    ASSERT_TRUE(spool.commit());
    {
        const test::NoRoom full;
        attempt.stage = Stage::kRunning;
        static_cast<void>(spool.save(attempt, messages));
        const Result<void> failed = spool.commit();
        ASSERT_FALSE(failed);
        EXPECT_EQ(failed.error().code, Errc::kUnavailable) << failed.error().detail;
        EXPECT_TRUE(spool.is_behind());
        EXPECT_EQ(spool.message_count().value(), 0) << "what is not stored is not shown";

        attempt.unit_type = "core";
        static_cast<void>(spool.save(attempt));
        static_cast<void>(spool.accept(refused));
        EXPECT_FALSE(spool.commit());
        spool.drop_gathered({refused.attempt_id});
        EXPECT_TRUE(spool.is_behind());
    }

    ASSERT_TRUE(spool.commit());

    EXPECT_FALSE(spool.has_changes());
    EXPECT_EQ(spool.message_count().value(), 1);
    ASSERT_EQ(stored().size(), 1U) << "without the order that was refused";
    EXPECT_EQ(stored()[0].stage, Stage::kRunning);
    EXPECT_EQ(stored()[0].unit_type, "core");
}

TEST(Spool, SaysWhenItsFileIsDamaged)
{
    const TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "spool.db";
    std::ofstream(file) << std::string(8192, 'x');

    EXPECT_EQ(Spool::open(file).error().code, Errc::kInternal) << "waiting does not help";
}

TEST(Spool, KnowsWhetherTheHostWasStartedAnew)
{
    const TemporaryFolder folder;
    Spool spool = Spool::open(folder.path() / "spool.db").value();

    EXPECT_TRUE(spool.note_boot("a").value()) << "older agents did not note it, nor needed to";
    EXPECT_TRUE(spool.note_boot("a").value());
    EXPECT_FALSE(spool.note_boot("b").value());
    EXPECT_TRUE(spool.note_boot("b").value());
}

TEST(Spool, TakesAnOrderOnceEvenAfterItWasForgotten)
{
    const TemporaryFolder folder;
    Spool spool = Spool::open(folder.path() / "spool.db").value();
    const AttemptOrder order = shell_order("true");

    EXPECT_TRUE(spool.accept(order).value());
    EXPECT_FALSE(spool.accept(order).value());
    ASSERT_TRUE(spool.forget(order.attempt_id, Timestamp(std::chrono::seconds(100))));
    EXPECT_FALSE(spool.accept(order).value());
    EXPECT_TRUE(spool.attempts().value().attempts.empty());

    ASSERT_TRUE(spool.purge(Timestamp(std::chrono::seconds(101))));
    EXPECT_TRUE(spool.accept(order).value());
}

TEST(Spool, GivesMessagesInOrderUntilEachIsAcknowledged)
{
    const TemporaryFolder folder;
    Spool spool = Spool::open(folder.path() / "spool.db").value();
    const AttemptOrder order = shell_order("true");
    StoredAttempt attempt;
    attempt.order = order;
    const std::array messages{started_message(order.attempt_id), started_message(order.attempt_id)};
    ASSERT_TRUE(spool.accept(order).value());
    ASSERT_TRUE(spool.save(attempt, messages));

    EXPECT_EQ(spool.attempt_of(messages[1].id).value(), order.attempt_id);
    ASSERT_TRUE(spool.acknowledge(messages[0].id));
    ASSERT_TRUE(spool.acknowledge(MessageId::make()));

    const std::vector<SpooledMessage> left = spool.messages_after(0, 10).value();
    ASSERT_EQ(left.size(), 1U);
    EXPECT_EQ(left[0].id, messages[1].id);
    EXPECT_EQ(spool.message_count(order.attempt_id).value(), 1);
}

TEST(Spool, ForgetsAnAttemptTogetherWithItsMessages)
{
    const TemporaryFolder folder;
    Spool spool = Spool::open(folder.path() / "spool.db").value();
    const AttemptOrder order = shell_order("true");
    StoredAttempt attempt;
    attempt.order = order;
    const std::array messages{started_message(order.attempt_id)};
    ASSERT_TRUE(spool.accept(order).value());
    ASSERT_TRUE(spool.save(attempt, messages));

    ASSERT_TRUE(spool.forget(order.attempt_id, Timestamp{}));

    EXPECT_EQ(spool.message_count().value(), 0);
}

/// Runs statements on the file as another program would, whatever its version.
void change(const std::filesystem::path& file, const char* sql)
{
    std::vector<const char*> known;
    Result<Database> database = Database::open(file, known);
    for (; !database && known.size() < 100; database = Database::open(file, known))
        known.push_back("");
    ASSERT_TRUE(database);
    ASSERT_TRUE(database->execute(sql));
}

TEST(Spool, TakesOverWhatAnAgentWithoutVersionsHasWritten)
{
    const TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "spool.db";
    const AttemptOrder order = shell_order("true");
    ASSERT_TRUE(Spool::open(file).value().accept(order).value());
    change(file,
           "ALTER TABLE message DROP COLUMN is_end; ALTER TABLE attempt DROP COLUMN devices; PRAGMA user_version = 0");

    Spool spool = Spool::open(file).value();

    ASSERT_EQ(spool.attempts().value().attempts.size(), 1U);
    StoredAttempt attempt;
    attempt.order = order;
    AttemptEnd end;
    end.attempt_id = order.attempt_id;
    const std::array messages{link::make_message(link::AttemptEnded{end})};
    ASSERT_TRUE(spool.save(attempt, messages));
    EXPECT_EQ(spool.messages_after(0, 10).value().at(0).end_of, order.attempt_id);
}

TEST(Spool, RefusesWhatANewerAgentHasWritten)
{
    const TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "spool.db";
    ASSERT_TRUE(Spool::open(file));
    change(file, "PRAGMA user_version = 99");

    const Result<Spool> spool = Spool::open(file);

    ASSERT_FALSE(spool);
    EXPECT_THAT(spool.error().detail, testing::HasSubstr("newer fathom-agent"));
}

TEST(Spool, GivesTheOthersWhenARowCannotBeRead)
{
    const TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "spool.db";
    const AttemptOrder damaged = shell_order("true");
    const AttemptOrder good = shell_order("true");
    {
        Spool spool = Spool::open(file).value();
        ASSERT_TRUE(spool.accept(damaged).value());
        ASSERT_TRUE(spool.accept(good).value());
    }
    change(file, "UPDATE attempt SET start_message = 'nonsense' WHERE number = 1");

    const StoredAttempts stored = Spool::open(file).value().attempts().value();

    ASSERT_EQ(stored.attempts.size(), 1U);
    EXPECT_EQ(stored.attempts[0].order.attempt_id, good.attempt_id);
    ASSERT_EQ(stored.unreadable.size(), 1U);
    EXPECT_EQ(stored.unreadable[0].id, damaged.attempt_id.value);
}

TEST(Spool, IsReadableByItsOwnerOnly)
{
    const TemporaryFolder folder;
    const Spool spool = Spool::open(folder.path() / "spool.db").value();
    struct stat facts{};
    ASSERT_EQ(::stat((folder.path() / "spool.db").c_str(), &facts), 0);

    EXPECT_EQ(facts.st_mode & 0777U, 0600U);
}

TEST(Spool, SaysWhichFileItCannotOpen)
{
    const Result<Spool> spool = Spool::open("/no/such/folder/spool.db");

    ASSERT_FALSE(spool);
    EXPECT_THAT(spool.error().detail, testing::HasSubstr("/no/such/folder/spool.db"));
}

} // namespace
} // namespace fathom::agent
