// Attempts that leave something behind: folders that resist, a spool without room, strays.
#include "tests/agent/jobs/attempt_book_fixture.hpp"
#include "tests/agent/support/described_devices.hpp"
#include "tests/agent/support/no_room.hpp"

#include <gmock/gmock.h>

namespace fathom::agent {
namespace {

using namespace std::chrono_literals;
using test::AttemptBookTest;

TEST_F(AttemptBookTest, TriesAgainToRemoveWhatResists)
{
    executor_.folders = {AttemptId::make()};
    executor_.is_stubborn = true;
    AttemptBook book = this->book(0s);
    ASSERT_TRUE(book.load());
    EXPECT_EQ(executor_.removals, 1);

    advance(book, 1min);
    EXPECT_EQ(executor_.removals, 1) << "not all the time";
    advance(book, 10min);
    EXPECT_EQ(executor_.removals, 2);
    executor_.is_stubborn = false;
    advance(book, 10min);

    EXPECT_TRUE(executor_.folders.empty());
    advance(book, 1h);
    EXPECT_EQ(executor_.removals, 3);
}

TEST_F(AttemptBookTest, ComesBackSoonWhileASupervisorStillDeletes)
{
    executor_.folders = {AttemptId::make()};
    executor_.is_busy = true;
    AttemptBook book = this->book(0s);
    ASSERT_TRUE(book.load());
    executor_.is_busy = false;

    advance(book, 2s);

    EXPECT_TRUE(executor_.folders.empty());
}

TEST_F(AttemptBookTest, WaitsWithARetryForNoFolderThatIsKept)
{
    executor_.folders = {AttemptId::make()};
    executor_.is_stubborn = true;
    AttemptBook book = this->book(24h);
    ASSERT_TRUE(book.load());
    EXPECT_EQ(executor_.removals, 0);

    advance(book, 25h);
    EXPECT_EQ(executor_.removals, 1);
    advance(book, 11min);
    EXPECT_EQ(executor_.removals, 2);
}

TEST_F(AttemptBookTest, TakesOrdersAgainThatCouldNotBeStored)
{
    AttemptBook book = this->book(0s);
    ASSERT_TRUE(book.load());
    const AttemptOrder order = test::shell_order("true");
    executor_.views[order.attempt_id] = {RunPhase::kAlive, clock_.now()};
    {
        Spool other = Spool::open(folder_.path() / "spool.db").value();
        other.gather();
        ASSERT_TRUE(other.accept(test::shell_order("true")).value()); // and holds the file
        EXPECT_FALSE(book.accept(order));
    }
    EXPECT_TRUE(book.inventory().empty());
    EXPECT_TRUE(book.store_orders(steady_));

    EXPECT_TRUE(book.accept(order));
    EXPECT_TRUE(book.store_orders(steady_));
    book.advance(steady_);

    EXPECT_THAT(executor_.started, testing::ElementsAre(order.attempt_id));
}

TEST_F(AttemptBookTest, TellsWhatBecameOfAttemptsOnceThereIsRoomAgain)
{
    AttemptBook book = this->book(0s);
    ASSERT_TRUE(book.load());
    const AttemptOrder first = accept_running(book);
    const AttemptOrder second = accept_running(book); // waits for the only unit
    ASSERT_TRUE(book.store_orders(steady_));
    advance(book, 2s);
    advance(book, 2s);
    ASSERT_THAT(told(), testing::ElementsAre("attempt_started"));
    {
        const test::NoRoom full;
        executor_.views[first.attempt_id] = {RunPhase::kEnded, clock_.now(), end_of(first)};
        executor_.news.moved = {first.attempt_id};
        for (int i = 0; i < 3; ++i)
            advance(book, 2s);
        EXPECT_TRUE(spool_.is_behind());
        EXPECT_THAT(told(), testing::ElementsAre("attempt_started")) << "the end is not stored";
        EXPECT_THAT(executor_.started, testing::ElementsAre(first.attempt_id)) << "that it has a unit is not, either";
        EXPECT_EQ(book.accept(test::shell_order("true")).error().code, Errc::kUnavailable);
        EXPECT_EQ(book.cancel(second.attempt_id, "no more").error().code, Errc::kUnavailable);
        book.acknowledged(spool_.messages_after(0, 1).value().at(0).id);
        EXPECT_EQ(book.inventory().size(), 2U);
    }

    advance(book, 2s);
    advance(book, 2s);

    EXPECT_FALSE(spool_.is_behind());
    EXPECT_THAT(told(), testing::ElementsAre("attempt_ended", "attempt_started"));
    EXPECT_THAT(executor_.started, testing::ElementsAre(first.attempt_id, second.attempt_id));
    EXPECT_TRUE(book.accept(test::shell_order("true")));
    EXPECT_TRUE(book.store_orders(steady_));
}

TEST_F(AttemptBookTest, CountsAcknowledgementsThatCameWhileThereWasNoRoom)
{
    AttemptBook book = this->book(0s);
    ASSERT_TRUE(book.load());
    const AttemptOrder order = accept_running(book);
    ASSERT_TRUE(book.store_orders(steady_));
    advance(book, 2s);
    executor_.views[order.attempt_id] = {RunPhase::kEnded, clock_.now(), end_of(order)};
    executor_.news.moved = {order.attempt_id};
    advance(book, 2s);
    ASSERT_THAT(told(), testing::ElementsAre("attempt_started", "attempt_ended"));
    {
        const test::NoRoom full;
        const std::vector<SpooledMessage> messages = spool_.messages_after(0, 10).value();
        book.acknowledged(messages.at(0).id);
        advance(book, 2s); // cannot store that
        EXPECT_TRUE(spool_.is_behind());
        book.acknowledged(messages.at(1).id);
        EXPECT_EQ(book.inventory().size(), 1U);
    }

    advance(book, 2s);
    advance(book, 2s);

    EXPECT_TRUE(told().empty());
    EXPECT_TRUE(book.inventory().empty());
    EXPECT_EQ(executor_.removals, 1);
}

TEST_F(AttemptBookTest, GivesTheProcessorsOfAStrayToNobody)
{
    const AttemptId stray = AttemptId::make();
    executor_.folders = {stray};
    executor_.views[stray] = {RunPhase::kAlive, clock_.now()};
    executor_.cpus[stray] = {0};
    AttemptBook book = this->book(0s);
    ASSERT_TRUE(book.load());
    const AttemptOrder order = accept_running(book);
    advance(book, 2s);
    EXPECT_TRUE(executor_.started.empty());

    executor_.views.erase(stray);
    advance(book, 2s);

    EXPECT_THAT(executor_.started, testing::ElementsAre(order.attempt_id));
    EXPECT_TRUE(executor_.folders.empty());
}

} // namespace
} // namespace fathom::agent
