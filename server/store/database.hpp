#pragma once

#include "core/base/clock.hpp"
#include "core/base/metrics.hpp"
#include "core/base/result.hpp"
#include "server/store/transaction.hpp"

#include <boost/asio/awaitable.hpp>

#include <functional>
#include <memory>
#include <string>
#include <type_traits>

namespace fathom::server {

namespace asio = boost::asio;

struct DatabaseOptions {
    std::string url; ///< libpq connection string or postgresql:// URL
    std::size_t connections = 8;
    std::size_t waiting = 4096; ///< work queued beyond this in one line is refused with kUnavailable
    std::chrono::milliseconds statement_limit{15000};
};

/// Two lines of work wait for the connections. Where both wait, each gets as many; and of four connections or more no
/// line has the last one, so that a flood of one kind never stops the other.
enum class DatabaseLine {
    kUsual,
    kVital ///< who calls, and what agents say and are told: without these centers would be taken for lost
};

/// The store's pool: one thread per connection, since libpqxx blocks. Broken connections are opened
/// again with back-off; the work that met the break gets kUnavailable, unless it had done nothing yet.
/// Thread-safe.
class Database {
  public:
    Database(DatabaseOptions options, Metrics& metrics);
    ~Database();
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    /// Connects once to see that it works. Blocks.
    /// @error kUnavailable  with what PostgreSQL said.
    Result<void> check();

    /// Waits for running work, refuses new work, closes the connections. Blocks.
    void stop();

    /// Runs `work(pqxx::work&) -> Result<T>` in one transaction on a pool thread and resumes the caller on
    /// its own executor. Commits when the result is a value, rolls back when it is an error or an exception
    /// left it. Serialization failures and deadlocks run the work again (at most 3 times), so it must not
    /// have effects of its own, but what it gives to after_commit(). pqxx exceptions become: unique violation ->
    /// kConflict, broken connection -> kUnavailable, statement time-out -> kDeadline, others -> kInternal (logged with
    /// the SQLSTATE).
    template <class Work, class R = std::invoke_result_t<Work&, pqxx::work&>>
    asio::awaitable<R> run(Work work, DatabaseLine line = DatabaseLine::kUsual)
    {
        return run_in(Scope::kTransaction, as_transaction(std::move(work)), line);
    }

    /// The same for `work(pqxx::transaction_base&) -> Result<T>` that executes one statement, or several reads that
    /// need not agree: each is a transaction of its own, which saves the round trips of BEGIN and COMMIT. A statement
    /// that has run stays, whatever the work returns. When the connection breaks meanwhile, whether it took place is
    /// not known.
    template <class Work, class R = std::invoke_result_t<Work&, pqxx::transaction_base&>>
    asio::awaitable<R> run_statement(Work work)
    {
        return run_in(Scope::kStatement, std::move(work), DatabaseLine::kUsual);
    }
    /// The same as run() for a thread that may block: start-up, periodic tasks with their own thread, tests.
    template <class Work, class R = std::invoke_result_t<Work&, pqxx::work&>>
    R blocking_run(Work& work)
    {
        auto step = as_transaction([&work](pqxx::work& transaction) -> R { return work(transaction); });
        return blocking_run_in<decltype(step), R>(Scope::kTransaction, step);
    }

  private:
    /// What work runs in: one transaction with BEGIN and COMMIT, or statements that are each one of their own.
    enum class Scope { kTransaction, kStatement };
    using Step = std::function<Result<void>(pqxx::transaction_base&)>;

    /// What runs in Scope::kTransaction gets a pqxx::work there.
    template <class Work>
    static auto as_transaction(Work work)
    {
        return [work = std::move(work)](pqxx::transaction_base& transaction) mutable {
            return work(static_cast<pqxx::work&>(transaction));
        };
    }

    /// Only what depends on the type of the result is a template: there are hundreds of these.
    template <class Work, class R = std::invoke_result_t<Work&, pqxx::transaction_base&>>
    asio::awaitable<R> run_in(Scope scope, Work work, DatabaseLine line)
    {
        R result = did_not_run();
        const Step step = step_of(work, result);
        const Result<void> outcome = co_await run_step(scope, step, line);
        if (!outcome) co_return outcome.error();
        co_return result;
    }

    template <class Work, class R>
    R blocking_run_in(Scope scope, Work& work)
    {
        R result = did_not_run();
        if (Result<void> outcome = transact(scope, step_of(work, result)); !outcome) return outcome.error();
        return result;
    }

    static Error did_not_run() { return {Errc::kInternal, "the transaction did not run"}; }

    /// Puts what the work gives into `result`. Refers to both.
    template <class Work, class R>
    static Step step_of(Work& work, R& result)
    {
        return [&work, &result](pqxx::transaction_base& transaction) -> Result<void> {
            result = work(transaction);
            if (!result) return result.error();
            return {};
        };
    }

    /// transact() on a pool thread. `step` must live until the caller is resumed, on its own executor.
    asio::awaitable<Result<void>> run_step(Scope scope, const Step& step, DatabaseLine line);
    /// Runs `task` on a pool thread, or calls `refused` at once when the waiting line is full or the pool stopped.
    void submit(DatabaseLine line, std::function<void()> task, std::function<void(Error)> refused);
    /// One step with retries on this thread's connection. On a thread outside the pool: on a spare connection.
    Result<void> transact(Scope scope, const Step& step);

    struct State;
    std::unique_ptr<State> state_;
};

} // namespace fathom::server
