#include "tests/agent/jobs/attempt_book_fixture.hpp"
#include "tests/agent/support/described_devices.hpp"
#include "tests/agent/support/no_room.hpp"

#include <gmock/gmock.h>

namespace fathom::agent {
namespace {

using namespace std::chrono_literals;
using test::AttemptBookTest;

TEST_F(AttemptBookTest, TellsHowAnAttemptWaitsInABatchSystemOnceUntilThatChanges)
{
    AttemptBook book = this->book(0s);
    ASSERT_TRUE(book.load());
    const AttemptOrder order = test::shell_order("true");
    RunView& view = executor_.views[order.attempt_id];
    view = {.phase = RunPhase::kQueued, .queue = QueueState{"Priority", clock_.now() + 1h}};
    ASSERT_TRUE(book.accept(order));
    advance(book, 0s);
    advance(book, 1min);

    const std::vector<link::QueuedAttempt> told{{order.attempt_id, "Priority", view.queue->expected_start}};
    EXPECT_EQ(book.queue_news().attempts, told);
    view.queue->expected_start = *view.queue->expected_start + 10s;
    advance(book, 1min);
    EXPECT_THAT(book.queue_news().attempts, testing::IsEmpty()) << "nothing that matters has changed";

    view.queue->reason = std::string(2000, 'x');
    advance(book, 1min);
    const std::vector<link::QueuedAttempt> news = book.queue_news().attempts;
    ASSERT_EQ(news.size(), 1U);
    EXPECT_EQ(news[0].reason.size(), 1000U);

    book.tell_queues_again();
    EXPECT_EQ(book.queue_news().attempts.size(), 1U) << "to a metascheduler that has just been reached";

    view = {.phase = RunPhase::kAlive, .started_at = clock_.now()};
    book.tell_queues_again();
    advance(book, 1min);
    EXPECT_THAT(book.queue_news().attempts, testing::IsEmpty()) << "it runs";
}

TEST_F(AttemptBookTest, TellsBesideWhomAnAttemptStartsAlsoAfterARestart)
{
    const auto start = [this](AttemptBook& book, KernelClass kernel_class) {
        AttemptOrder order = test::shell_order("true");
        order.unit_type = "part";
        order.kernel_class = kernel_class;
        order.gpu_kind = to_string(kernel_class);
        order.gpu_pairs = {{.a = "compute", .b = "memory", .a_share = 0.65, .b_share = 0.55}};
        executor_.views[order.attempt_id] = {.phase = RunPhase::kAlive, .started_at = clock_.now()};
        EXPECT_TRUE(book.accept(order));
        advance(book, 0s);
        advance(book, 1min);
        return order.attempt_id;
    };
    std::map<AttemptId, std::optional<DeviceNeighbours>> neighbours;
    const auto listen = [&] {
        for (const SpooledMessage& message : spool_.messages_after(0, 1000).value()) {
            const auto decoded = std::get<link::Message>(link::decode(message.text));
            if (const auto* started = std::get_if<link::AttemptStarted>(&decoded.body))
                neighbours[started->attempt_id] = started->neighbours;
        }
    };
    AttemptId first;
    {
        AttemptBook book(spool_, executor_, clock_, test::parts_of_two(), BookOptions());
        ASSERT_TRUE(book.load());
        first = start(book, KernelClass::kMemory);
    }
    AttemptBook again(spool_, executor_, clock_, test::parts_of_two(), BookOptions());
    ASSERT_TRUE(again.load());

    const AttemptId second = start(again, KernelClass::kCompute);
    listen();

    ASSERT_EQ(neighbours.size(), 2U);
    EXPECT_EQ(neighbours[first], std::nullopt);
    ASSERT_TRUE(neighbours[second]);
    EXPECT_EQ(neighbours[second]->memory_count, 1) << "the class of what runs is known from the spool";
    EXPECT_DOUBLE_EQ(neighbours[second]->expected_share.value(), 0.65);
    EXPECT_EQ(neighbours[second]->basis, PairSource::kMeasured) << "so is what it is called where pairs are known";
}

TEST_F(AttemptBookTest, GivesEachJobWhatItsProgramsAreKnownByAtTheMemoryManager)
{
    BookOptions options;
    options.gpu_proof = [](const std::string& job) { return "proof of " + job; };
    AttemptBook book(spool_, executor_, clock_, test::core_plan(1), std::move(options));
    ASSERT_TRUE(book.load());

    const AttemptOrder order = accept_running(book);
    advance(book, 1s);

    ASSERT_EQ(executor_.environments.size(), 1U);
    EXPECT_EQ(executor_.environments[0].at("FATHOM_GPU_PROOF"), "proof of " + order.job_id.value);
}

TEST_F(AttemptBookTest, ActsAtOnceOnWhatTheExecutorTells)
{
    AttemptBook book = this->book(0s);
    const AttemptOrder order = accept_running(book);
    book.advance(steady_);
    executor_.news.moved = {order.attempt_id};
    book.advance(steady_);
    EXPECT_THAT(told(), testing::ElementsAre("attempt_started"));

    executor_.views.erase(order.attempt_id);
    executor_.views[order.attempt_id] = {RunPhase::kEnded, clock_.now(), end_of(order)};
    book.advance(steady_);
    EXPECT_THAT(told(), testing::ElementsAre("attempt_started")) << "nobody has said so";
    executor_.news.moved = {order.attempt_id};
    book.advance(steady_);

    EXPECT_THAT(told(), testing::ElementsAre("attempt_started", "attempt_ended"));
}

TEST_F(AttemptBookTest, FindsByItselfWhatNobodyHasTold)
{
    AttemptBook book = this->book(0s);
    const AttemptOrder order = accept_running(book);
    book.advance(steady_);
    executor_.views[order.attempt_id] = {RunPhase::kEnded, clock_.now(), end_of(order)};

    advance(book, 2s);

    EXPECT_EQ(book.running_count(), 0);
}

TEST_F(AttemptBookTest, LooksAtFewOfManyAttemptsASecond)
{
    constexpr int kAttempts = 1500;
    AttemptBook book = this->book(0s, kAttempts);
    for (int i = 0; i < kAttempts; ++i)
        accept_running(book);
    book.advance(steady_);
    for (int i = 0; i < 60; ++i)
        advance(book, 1s); // all of them have come round
    executor_.looks = 0;
    executor_.reads = 0;

    for (int i = 0; i < 100; ++i)
        advance(book, 1s);

    EXPECT_LE(executor_.looks, 100 * 600);
    EXPECT_GE(executor_.looks, 20 * kAttempts) << "each one now and then";
    EXPECT_LE(executor_.reads, 2 * 100 * 600);
}

TEST_F(AttemptBookTest, TellsTheEndOfAJobBeforeItsOutputAndOfAProbeAfter)
{
    AttemptBook book = this->book(0s, 2);
    const auto end = [&](const std::string& label) {
        AttemptOrder order = test::shell_order("true");
        order.label = label;
        executor_.written[order.attempt_id] = "much to tell";
        executor_.views[order.attempt_id] = {RunPhase::kEnded, std::nullopt, end_of(order)};
        EXPECT_TRUE(book.accept(order));
        book.advance(steady_);
        advance(book, 2s);
    };
    end("job");
    EXPECT_THAT(told(), testing::ElementsAre("attempt_ended"));
    end("probe");
    EXPECT_THAT(told(), testing::ElementsAre("attempt_ended")) << "its output was not acknowledged";

    for (const link::Message& piece : book.next_output())
        book.acknowledged(piece.id);
    book.advance(steady_);

    EXPECT_THAT(told(), testing::ElementsAre("attempt_ended", "attempt_ended"));
}

TEST_F(AttemptBookTest, KeepsAnAttemptUntilItsOutputHasArrivedToo)
{
    AttemptBook book = this->book(0s);
    AttemptOrder order = test::shell_order("true");
    executor_.written[order.attempt_id] = "much to tell";
    executor_.views[order.attempt_id] = {RunPhase::kEnded, std::nullopt, end_of(order)};
    ASSERT_TRUE(book.accept(order));
    advance(book, 2s);
    advance(book, 2s);
    const std::vector<link::Message> pieces = book.output_before_end(order.attempt_id);
    ASSERT_EQ(pieces.size(), 1U);

    for (const SpooledMessage& message : spool_.messages_after(0, 10).value())
        book.acknowledged(message.id);
    book.forget(order.attempt_id);
    EXPECT_EQ(book.inventory().size(), 1U);
    book.acknowledged(pieces[0].id);
    book.advance(steady_);

    EXPECT_TRUE(book.inventory().empty());
    EXPECT_EQ(executor_.removals, 1);
}

TEST_F(AttemptBookTest, StartsWhatIsStoredWithItsUnits)
{
    AttemptBook book = this->book(0s, 2);
    ASSERT_TRUE(book.load());
    std::vector<AttemptId> orders;
    for (int i = 0; i < 2; ++i)
        orders.push_back(accept_running(book).attempt_id);
    const auto stored = [&] { return Spool::open(folder_.path() / "spool.db").value().attempts().value().attempts; };
    EXPECT_TRUE(stored().empty());

    ASSERT_TRUE(book.store_orders(steady_));

    ASSERT_EQ(stored().size(), 2U);
    EXPECT_EQ(stored()[1].stage, Stage::kStarting);
    EXPECT_TRUE(executor_.started.empty());
    book.advance(steady_);
    EXPECT_EQ(executor_.started, orders);
}

TEST_F(AttemptBookTest, HasJobsMatchedWithTheLibraryOfTheirStartWhenTheyAreProfiled)
{
    AttemptBook book = this->book(0s, 2);
    ASSERT_TRUE(book.load());
    AttemptOrder profiled = test::shell_order("true");
    profiled.profile = true;
    executor_.views[profiled.attempt_id] = {RunPhase::kAlive, clock_.now()};
    ASSERT_TRUE(book.accept(profiled));
    accept_running(book);
    ASSERT_TRUE(book.store_orders(steady_));

    book.match_with("[1]");
    book.advance(steady_);

    EXPECT_THAT(executor_.libraries, testing::ElementsAre("[1]", ""));
}

TEST_F(AttemptBookTest, SaysWithTheLibraryWhichOperatorsTheJobIsKnownToExecute)
{
    AttemptBook book = this->book(0s, 2);
    ASSERT_TRUE(book.load());
    AttemptOrder profiled = test::shell_order("true");
    profiled.profile = true;
    profiled.known_operators = {"conv2d", "dgemm"};
    executor_.views[profiled.attempt_id] = {RunPhase::kAlive, clock_.now()};
    ASSERT_TRUE(book.accept(profiled));
    ASSERT_TRUE(book.store_orders(steady_));

    book.match_with("[1]");
    book.advance(steady_);

    EXPECT_THAT(executor_.libraries, testing::ElementsAre(R"({"items":[1],"known_operators":["conv2d","dgemm"]})"));
}

TEST_F(AttemptBookTest, GivesTheNextItsUnitsWithTheEndOfTheOneBefore)
{
    AttemptBook book = this->book(0s);
    ASSERT_TRUE(book.load());
    const AttemptOrder first = accept_running(book);
    const AttemptOrder second = accept_running(book);
    ASSERT_TRUE(book.store_orders(steady_));
    advance(book, 2s);
    ASSERT_THAT(executor_.started, testing::ElementsAre(first.attempt_id));

    executor_.views[first.attempt_id] = {RunPhase::kEnded, clock_.now(), end_of(first)};
    executor_.news.moved = {first.attempt_id};
    book.advance(steady_);

    EXPECT_THAT(executor_.started, testing::ElementsAre(first.attempt_id, second.attempt_id));
    EXPECT_FALSE(spool_.has_changes());
}

} // namespace
} // namespace fathom::agent
