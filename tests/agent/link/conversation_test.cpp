#include "agent/link/conversation.hpp"
#include "tests/agent/support/builders.hpp"
#include "tests/agent/support/fake_executor.hpp"
#include "tests/agent/support/no_room.hpp"

#include <gmock/gmock.h>

namespace fathom::agent {
namespace {

using namespace std::chrono_literals;

Catalog catalog_named(const std::string& hostname)
{
    Catalog catalog;
    catalog.facts = {{"hostname", hostname}};
    return catalog;
}

/// An agent's side of a connection, with what it has said on it.
class ConversationTest : public testing::Test {
  protected:
    void connect()
    {
        conversation_.connected({[this](std::string text) {
                                     said_.push_back(std::get<link::Message>(link::decode(text)).body);
                                     return true;
                                 },
                                 [this](const std::string& reason) { closed_.push_back(reason); }});
    }
    void welcome(link::Welcome welcome = {}) { conversation_.receive(link::make_message(std::move(welcome))); }

    template <class Body>
    std::vector<Body> said() const
    {
        std::vector<Body> bodies;
        for (const link::Body& body : said_) {
            if (const Body* const one = std::get_if<Body>(&body)) bodies.push_back(*one);
        }
        return bodies;
    }

    SystemClock clock_;
    test::TemporaryFolder folder_;
    Spool spool_ = Spool::open(folder_.path() / "spool.db").value();
    test::FakeExecutor executor_;
    AttemptBook book_{spool_, executor_, clock_, test::core_plan(1), BookOptions()};
    Conversation conversation_{spool_, book_, catalog_named("one")};
    std::vector<link::Body> said_;
    std::vector<std::string> closed_; ///< why connections were given up
};

TEST_F(ConversationTest, SaysAnOfferThatChangedBetweenItsGreetingAndTheAnswer)
{
    connect();
    conversation_.offer_changed(catalog_named("two"));
    ASSERT_EQ(said<link::Hello>().size(), 1U);
    EXPECT_EQ(said<link::Hello>()[0].catalog.facts["hostname"], "one");
    welcome();

    ASSERT_EQ(said<link::CatalogChanged>().size(), 1U);
    EXPECT_EQ(said<link::CatalogChanged>()[0].catalog.facts["hostname"], "two");
}

TEST_F(ConversationTest, SaysAnOfferThatChangedBeforeItsGreetingOnce)
{
    conversation_.offer_changed(catalog_named("two"));
    connect();
    welcome();

    EXPECT_EQ(said<link::Hello>().at(0).catalog.facts["hostname"], "two");
    EXPECT_THAT(said<link::CatalogChanged>(), testing::IsEmpty());
    conversation_.disconnected();
    conversation_.offer_changed(catalog_named("three"));
    connect();
    welcome();
    EXPECT_EQ(said<link::Hello>().at(1).catalog.facts["hostname"], "three");
    EXPECT_THAT(said<link::CatalogChanged>(), testing::IsEmpty());
}

TEST_F(ConversationTest, SaysInItsGreetingWhichLibraryItHoldsAndHandsOnAnother)
{
    connect();
    EXPECT_FALSE(said<link::Hello>().at(0).library_digest) << "it takes none";
    conversation_.disconnected();

    conversation_.holds_library("");
    std::vector<std::string> taken;
    conversation_.on_match_library = [&](const link::MatchLibrary& library) { taken.push_back(library.digest); };
    connect();
    welcome();
    conversation_.receive(link::make_message(link::MatchLibrary{.digest = "abc"}));
    EXPECT_EQ(said<link::Hello>().at(1).library_digest, "");
    EXPECT_THAT(taken, testing::ElementsAre("abc"));
    EXPECT_THAT(said<link::Ack>(), testing::IsEmpty());
    conversation_.disconnected();

    conversation_.holds_library("abc");
    connect();
    EXPECT_EQ(said<link::Hello>().at(2).library_digest, "abc");
}

TEST_F(ConversationTest, SaysInItsGreetingWhichHostJobsRunOnWhereThatIsKnown)
{
    connect();
    EXPECT_EQ(said<link::Hello>().at(0).host_id, "") << "a batch system decides";
    conversation_.disconnected();

    conversation_.runs_on("abc");
    connect();

    EXPECT_EQ(said<link::Hello>().at(1).host_id, "abc");
}

TEST_F(ConversationTest, SaysInItsGreetingWhichAuthoritiesItTrustsAndAcknowledgesOthersWhenTheyAreSafe)
{
    connect();
    EXPECT_FALSE(said<link::Hello>().at(0).authorities) << "it takes no others";
    conversation_.disconnected();

    conversation_.trusts({"one"});
    Result<void> outcome;
    conversation_.on_authorities = [&](const link::TrustedAuthorities&) { return outcome; };
    connect();
    welcome();
    conversation_.receive(link::make_message(link::TrustedAuthorities{}));
    outcome = Error{Errc::kUnavailable, "no room"};
    conversation_.receive(link::make_message(link::TrustedAuthorities{}));

    EXPECT_EQ(said<link::Hello>().at(1).authorities, std::vector<std::string>{"one"});
    ASSERT_EQ(said<link::Ack>().size(), 2U);
    EXPECT_FALSE(said<link::Ack>()[0].error);
    EXPECT_TRUE(said<link::Ack>()[1].error);
}

TEST_F(ConversationTest, SaysHowAttemptsWaitInABatchSystemToAServerThatTakesIt)
{
    const AttemptOrder order = test::shell_order("true");
    executor_.views[order.attempt_id] = {.phase = RunPhase::kQueued, .queue = QueueState{"Priority", std::nullopt}};
    ASSERT_TRUE(book_.load());
    ASSERT_TRUE(book_.accept(order));
    book_.advance(SteadyTime(1h));
    connect();
    welcome();
    conversation_.tick(SteadyTime(1h));
    EXPECT_THAT(said<link::QueueReport>(), testing::IsEmpty()) << "an older server would refuse it";

    conversation_.disconnected();
    connect();
    link::Welcome takes_queues;
    takes_queues.takes_queues = true;
    welcome(takes_queues);
    conversation_.tick(SteadyTime(1h));
    conversation_.tick(SteadyTime(2h));

    ASSERT_EQ(said<link::QueueReport>().size(), 1U);
    const std::vector<link::QueuedAttempt> told{{order.attempt_id, "Priority", std::nullopt}};
    EXPECT_EQ(said<link::QueueReport>()[0].attempts, told);
}

TEST_F(ConversationTest, PassesQueriesForKeptFilesOnAndTellsWhatCameOfThemLater)
{
    std::vector<link::KeptFileQuery> asked;
    conversation_.on_kept_file_query = [&](const link::KeptFileQuery& query) { asked.push_back(query); };
    connect();
    welcome();
    const MessageId query = MessageId::make();

    conversation_.receive(link::make_message(link::KeptFileQuery{query, std::string(64, 'a'), 4, 3}));

    ASSERT_EQ(asked.size(), 1U);
    EXPECT_EQ(asked[0].offset_bytes, 4);
    EXPECT_TRUE(said<link::KeptFilePiece>().empty()) << "nothing waits for it";
    conversation_.tell_kept_file({.query_id = query, .data = "ent"});
    ASSERT_EQ(said<link::KeptFilePiece>().size(), 1U);
    EXPECT_EQ(said<link::KeptFilePiece>()[0].query_id, query);
    EXPECT_EQ(said<link::KeptFilePiece>()[0].data, "ent");
    EXPECT_TRUE(said<link::Ack>().empty());
    conversation_.disconnected();
    conversation_.tell_kept_file({.query_id = query, .data = "ent"}); // nobody hears it
}

TEST_F(ConversationTest, SaysThatItReadsNoKeptFiles)
{
    connect();
    welcome();

    conversation_.receive(link::make_message(link::KeptFileQuery{MessageId::make(), std::string(64, 'a'), 0, 4}));

    ASSERT_EQ(said<link::KeptFilePiece>().size(), 1U);
    EXPECT_EQ(said<link::KeptFilePiece>()[0].refusal.value().code, Errc::kUnavailable);
}

TEST_F(ConversationTest, RefusesOrdersThatCannotBeStoredAndTakesThemOnceTheyCan)
{
    ASSERT_TRUE(book_.load());
    connect();
    welcome();
    const AttemptOrder order = test::shell_order("true");
    executor_.views[order.attempt_id] = {RunPhase::kAlive, clock_.now()};
    conversation_.receive(link::make_message(link::StartAttempt{order}));
    conversation_.settle();
    ASSERT_EQ(said<link::Ack>().size(), 1U);
    const link::Message cancel = link::make_message(link::CancelAttempt{order.attempt_id, "no more"});
    const link::Message start = link::make_message(link::StartAttempt{test::shell_order("true")});
    {
        const test::NoRoom full;
        conversation_.receive(cancel);
        EXPECT_THAT(closed_, testing::ElementsAre("the agent cannot store orders"));
        conversation_.receive(start);
        conversation_.settle();
        EXPECT_EQ(closed_.size(), 2U);
        EXPECT_EQ(said<link::Ack>().size(), 1U);
        EXPECT_FALSE(conversation_.request_probes("memory replaced"));
    }

    conversation_.receive(cancel);
    conversation_.receive(start);
    conversation_.settle();

    EXPECT_EQ(said<link::Ack>().size(), 3U);
    EXPECT_EQ(closed_.size(), 2U);
    EXPECT_THAT(said<link::ProbeRequest>(), testing::IsEmpty()) << "who asked in vain asks again";
}

} // namespace
} // namespace fathom::agent
