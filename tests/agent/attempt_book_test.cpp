#include "agent/jobs/attempt_book.hpp"
#include "tests/agent/support/builders.hpp"

#include <gtest/gtest.h>

namespace fathom::agent {
namespace {

using namespace std::chrono_literals;

class ManualClock final : public Clock {
  public:
    Timestamp now() const override { return time; }

    Timestamp time{std::chrono::hours(500'000)};
};

/// Keeps the folders of attempts that have ended, and deletes them when it is let.
class FakeExecutor final : public Executor {
  public:
    Result<void> start(const RunOrder& /*run*/) override { return {}; }
    RunView look(const AttemptId& /*id*/) override { return {RunPhase::kEnded}; }
    void cancel(const AttemptId& /*id*/) override {}
    Result<std::string> read_output(const AttemptId& /*id*/, OutputStream /*stream*/, std::int64_t /*offset*/,
                                    std::size_t /*max_bytes*/) override
    {
        return std::string();
    }
    void end_leftovers(const AttemptId& /*id*/) override {}
    std::vector<AttemptId> known() override { return folders; }
    Result<void> remove(const AttemptId& id) override
    {
        ++removals;
        if (is_busy) return Error{Errc::kConflict, "not yet"};
        if (is_stubborn) return Error{Errc::kUnavailable, "cannot delete " + id.value};
        std::erase(folders, id);
        return {};
    }
    Json facts() const override { return Json::object(); }

    std::vector<AttemptId> folders;
    bool is_stubborn = false;
    bool is_busy = false;
    int removals = 0;
};

class AttemptBookTest : public testing::Test {
  protected:
    AttemptBook book(std::chrono::seconds keep_finished)
    {
        BookOptions options;
        options.keep_finished = keep_finished;
        return AttemptBook(spool_, executor_, clock_, test::core_plan(1), std::move(options));
    }

    /// So much later, the book does what is next.
    void advance(AttemptBook& book, std::chrono::seconds by)
    {
        clock_.time += by;
        steady_ += by;
        book.advance(steady_);
    }

    test::TemporaryFolder folder_;
    Spool spool_ = Spool::open(folder_.path() / "spool.db").value();
    FakeExecutor executor_;
    ManualClock clock_;
    SteadyTime steady_{1h};
};

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

} // namespace
} // namespace fathom::agent
