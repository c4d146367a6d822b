#pragma once

#include "core/base/log.hpp"
#include "core/net/resume.hpp"
#include "server/store/database.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

namespace fathom::server {

/// Gathers small writes of one kind into one transaction with multi-row statements (design: group commit).
/// While one batch commits, the next gathers, and no item waits when idle. Those who were just answered often come back
/// at once with their next item: the next batch gives them a part of the time that the last one took, as a transaction
/// costs much the same for few items as for many. Each caller is answered after COMMIT. When a batch fails for a reason
/// of its content, its items run one by one, so that one bad item does not take the others down.
///
/// `Item` (movable) goes in, `Answer` (copyable) comes out for each. Thread-safe. The database and the
/// executor's context must outlive the last add().
template <class Item, class Answer>
class GroupCommit {
  public:
    /// Writes all items; returns one answer an item, in order. It may run again with the same items (after a
    /// conflict, or one by one), so it must leave them as they were.
    using Write = std::function<Result<std::vector<Answer>>(pqxx::work&, std::vector<Item>&)>;
    /// The same with exactly one statement, which needs no BEGIN and COMMIT around it (Database::run_statement).
    struct OneStatement {
        std::function<Result<std::vector<Answer>>(pqxx::transaction_base&, std::vector<Item>&)> write;
    };

    /// Batches commit one after another, in the order of their items.
    GroupCommit(Database& database, asio::any_io_executor executor, std::string name, Metrics& metrics, Write write,
                std::size_t max_batch = 512)
        : state_(std::make_shared<State>(database, std::move(executor), std::move(name), metrics, max_batch))
    {
        state_->write = std::move(write);
    }
    GroupCommit(Database& database, asio::any_io_executor executor, std::string name, Metrics& metrics,
                OneStatement statement, std::size_t max_batch = 512)
        : state_(std::make_shared<State>(database, std::move(executor), std::move(name), metrics, max_batch))
    {
        state_->statement = std::move(statement);
    }
    /// Items that wait are still written.
    ~GroupCommit() = default;
    GroupCommit(const GroupCommit&) = delete;
    GroupCommit& operator=(const GroupCommit&) = delete;

    /// @error kTooMany  more than 16 × max_batch items wait.  Others as Database::run.
    asio::awaitable<Result<Answer>> add(Item item) { return add_to(state_, std::move(item)); }

  private:
    /// One caller: its item, and how to answer it on its own executor.
    struct Waiting {
        Item item;
        std::function<void(Result<Answer>)> answer; ///< empty once it was called
        Waiting(Item i, std::function<void(Result<Answer>)> a) : item(std::move(i)), answer(std::move(a)) {}

        void tell(Result<Answer> outcome)
        {
            if (const auto call = std::exchange(answer, nullptr)) call(std::move(outcome));
        }
    };

    using SteadyTime = std::chrono::steady_clock::time_point;

    struct State {
        State(Database& db, asio::any_io_executor flush_executor, std::string name, Metrics& metrics,
              std::size_t batch_limit)
            : database(&db), executor(std::move(flush_executor)), max_batch(batch_limit),
              items(metrics.counter("fathom_group_commit_items_total", "Small writes that went through a group commit",
                                    {{"group", name}})),
              batches(metrics.counter("fathom_group_commit_batches_total", "Transactions that wrote a group",
                                      {{"group", name}})),
              singles(metrics.counter("fathom_group_commit_singles_total",
                                      "Writes run alone because their group had a bad one", {{"group", name}}))
        {
        }

        Database* database;
        asio::any_io_executor executor;
        Write write;            ///< empty where `statement` is not
        OneStatement statement; ///< empty where `write` is not
        std::size_t max_batch;
        Metrics::Counter items;
        Metrics::Counter batches;
        Metrics::Counter singles;

        std::mutex mutex;
        std::deque<Waiting> waiting;
        bool is_flushing = false;  ///< a flush coroutine lives: it sees everything in `waiting` before it ends
        std::size_t enough = 0;    ///< so many items need not wait for more
        SteadyTime gather_until{}; ///< nor does any after this
        /// flush() waits with it for one of both. Runs on: its executor.
        std::weak_ptr<asio::steady_timer> gathering;
    };

    // The callers' coroutines own the state, so the group itself may go before they end.
    static asio::awaitable<Result<Answer>> add_to(std::shared_ptr<State> state, Item item)
    {
        // Named on purpose: GCC 12 destroys a capturing temporary twice inside a co_await expression.
        auto initiate = [state](auto handler, Item work) { enqueue(state, std::move(handler), std::move(work)); };
        co_return co_await asio::async_initiate<const asio::use_awaitable_t<>&, void(Result<Answer>)>(
            initiate, asio::use_awaitable, std::move(item));
    }

    template <class Handler>
    static void enqueue(const std::shared_ptr<State>& state, Handler handler, Item item)
    {
        std::function<void(Result<Answer>)> answer = net::make_resume(std::move(handler));
        bool full = false;
        bool start = false;
        std::shared_ptr<asio::steady_timer> wake;
        {
            const std::scoped_lock lock(state->mutex);
            full = state->waiting.size() >= 16 * state->max_batch;
            if (!full) {
                state->waiting.emplace_back(std::move(item), answer);
                start = !std::exchange(state->is_flushing, true);
                if (state->waiting.size() >= state->enough) wake = std::exchange(state->gathering, {}).lock();
            }
        }
        if (full) answer(Error{Errc::kTooMany, "too many writes wait for the database; try again"});
        if (wake) asio::post(wake->get_executor(), [wake] { wake->cancel(); });
        if (start)
            asio::co_spawn(asio::make_strand(state->executor), flush(state), [state](const std::exception_ptr& thrown) {
                if (thrown) fail_all(state, thrown);
            });
    }

    /// Writes batches until nothing waits.
    static asio::awaitable<void> flush(std::shared_ptr<State> state)
    {
        for (;;) {
            co_await gather(state);
            std::vector<Waiting> batch = take_batch(*state);
            if (batch.empty()) co_return;
            const SteadyTime began = std::chrono::steady_clock::now();
            std::string defect;
            try {
                co_await commit(state, batch);
            } catch (const std::exception& e) {
                defect = e.what();
            }
            expect_more(*state, batch.size(), began);
            if (defect.empty()) continue;
            log_error("group_commit_failed", {{"error", defect}});
            for (Waiting& one : batch) // those who have no answer yet: nobody may wait for ever
                one.tell(Error{Errc::kInternal, "a group commit failed"});
        }
    }

    /// Waits until as many items are there as may come soon, but not for long.
    static asio::awaitable<void> gather(std::shared_ptr<State> state)
    {
        const asio::any_io_executor here = co_await asio::this_coro::executor;
        const auto timer = std::make_shared<asio::steady_timer>(here);
        {
            const std::scoped_lock lock(state->mutex);
            const bool is_over = std::chrono::steady_clock::now() >= state->gather_until;
            if (state->waiting.empty() || state->waiting.size() >= state->enough || is_over) co_return;
            timer->expires_at(state->gather_until);
            state->gathering = timer;
        }
        co_await timer->async_wait(asio::as_tuple(asio::use_awaitable));
        const std::scoped_lock lock(state->mutex);
        state->gathering.reset();
    }

    /// After a batch: those in it and those that wait by now are as many as work at the same time.
    static void expect_more(State& state, std::size_t answered, SteadyTime began)
    {
        constexpr std::chrono::milliseconds kMaxDuration{1};
        const SteadyTime now = std::chrono::steady_clock::now();
        const std::scoped_lock lock(state.mutex);
        state.enough = std::min(state.max_batch, (answered + state.waiting.size()) * 3 / 4);
        state.gather_until = now + std::min<SteadyTime::duration>((now - began) / 4, kMaxDuration);
    }

    static std::vector<Waiting> take_batch(State& state)
    {
        std::vector<Waiting> batch;
        const std::scoped_lock lock(state.mutex);
        const std::size_t count = std::min(state.waiting.size(), state.max_batch);
        batch.reserve(count);
        for (std::size_t i = 0; i < count; ++i) {
            batch.push_back(std::move(state.waiting.front()));
            state.waiting.pop_front();
        }
        if (count == 0) state.is_flushing = false; // under the mutex: the next add() starts a new flush
        return batch;
    }

    /// Runs inside flush(), which owns the batch.
    static asio::awaitable<void> commit(std::shared_ptr<State> state, std::vector<Waiting>& batch)
    {
        state->items.add(static_cast<double>(batch.size()));
        state->batches.add();
        auto items = std::make_shared<std::vector<Item>>();
        items->reserve(batch.size());
        for (Waiting& one : batch)
            items->push_back(std::move(one.item));
        const Result<std::vector<Answer>> answers = co_await write_once(state, items);
        if (answers) {
            for (std::size_t i = 0; i < batch.size(); ++i)
                batch[i].tell((*answers)[i]);
            co_return;
        }
        const Error error = answers.error();
        const bool is_content = error.code != Errc::kUnavailable && error.code != Errc::kDeadline;
        if (batch.size() == 1 || !is_content) {
            for (Waiting& one : batch)
                one.tell(error);
            co_return;
        }
        for (std::size_t i = 0; i < batch.size(); ++i) {
            state->singles.add();
            auto alone = std::make_shared<std::vector<Item>>();
            alone->push_back(std::move((*items)[i]));
            const Result<std::vector<Answer>> answer = co_await write_once(state, alone);
            if (answer)
                batch[i].tell(answer->front());
            else
                batch[i].tell(answer.error());
        }
    }

    static asio::awaitable<Result<std::vector<Answer>>> write_once(std::shared_ptr<State> state,
                                                                   std::shared_ptr<std::vector<Item>> items)
    {
        if (!state->write) {
            auto statement = [state, items](pqxx::transaction_base& transaction) {
                return checked(state->statement.write(transaction, *items), items->size());
            };
            co_return co_await state->database->run_statement(std::move(statement));
        }
        auto work = [state, items](pqxx::work& transaction) {
            return checked(state->write(transaction, *items), items->size());
        };
        co_return co_await state->database->run(std::move(work));
    }

    static Result<std::vector<Answer>> checked(Result<std::vector<Answer>> answers, std::size_t count)
    {
        if (answers && answers->size() != count)
            return Error{Errc::kInternal, "a group commit gave the wrong number of answers"};
        return answers;
    }

    /// A defect in the flush itself, for those that its batch did not have yet.
    static void fail_all(const std::shared_ptr<State>& state, const std::exception_ptr& thrown)
    {
        try {
            std::rethrow_exception(thrown);
        } catch (const std::exception& e) {
            log_error("group_commit_failed", {{"error", e.what()}});
        }
        std::deque<Waiting> left;
        {
            const std::scoped_lock lock(state->mutex);
            left.swap(state->waiting);
            state->is_flushing = false;
        }
        for (Waiting& one : left)
            one.tell(Error{Errc::kInternal, "a group commit failed"});
    }

    std::shared_ptr<State> state_;
};

} // namespace fathom::server
