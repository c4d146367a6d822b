#pragma once

#include "agent/jobs/attempt_book.hpp"
#include "tests/agent/support/builders.hpp"
#include "tests/agent/support/fake_executor.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string_view>
#include <vector>

namespace fathom::agent::test {

/// Goes on as it is told.
class ManualClock final : public Clock {
  public:
    Timestamp now() const override { return time; }

    Timestamp time{std::chrono::hours(500'000)};
};

/// A book with a spool, and an executor that only notes.
class AttemptBookTest : public testing::Test {
  protected:
    AttemptBook book(std::chrono::seconds keep_finished, std::int64_t units = 1)
    {
        BookOptions options;
        options.keep_finished = keep_finished;
        return AttemptBook(spool_, executor_, clock_, core_plan(units), std::move(options));
    }

    /// So much later, the book does what is next.
    void advance(AttemptBook& book, std::chrono::seconds by)
    {
        clock_.time += by;
        steady_ += by;
        book.advance(steady_);
    }

    TemporaryFolder folder_;
    Spool spool_ = Spool::open(folder_.path() / "spool.db").value();
    /// An attempt that runs at the executor once it was started.
    AttemptOrder accept_running(AttemptBook& book)
    {
        AttemptOrder order = shell_order("true");
        executor_.views[order.attempt_id] = {RunPhase::kAlive, clock_.now()};
        EXPECT_TRUE(book.accept(order));
        return order;
    }

    static AttemptEnd end_of(const AttemptOrder& order)
    {
        AttemptEnd end;
        end.attempt_id = order.attempt_id;
        return end;
    }

    /// The kinds of what is in the spool, in order.
    std::vector<std::string_view> told()
    {
        std::vector<std::string_view> types;
        for (const SpooledMessage& message : spool_.messages_after(0, 1000).value())
            types.push_back(link::type_name(std::get<link::Message>(link::decode(message.text)).body));
        return types;
    }

    FakeExecutor executor_;
    ManualClock clock_;
    SteadyTime steady_{std::chrono::hours(1)};
};

} // namespace fathom::agent::test
