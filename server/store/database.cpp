#include "server/store/database.hpp"

#include "core/base/log.hpp"
#include "core/base/log_limit.hpp"
#include "core/net/resume.hpp"
#include "server/store/after_commit.hpp"
#include "server/store/database_link.hpp"
#include "server/store/sql_error.hpp"

#include <boost/asio/async_result.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <pqxx/nontransaction>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <deque>
#include <iterator>
#include <mutex>
#include <optional>
#include <thread>

namespace fathom::server {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;
using namespace std::chrono_literals;

constexpr int kMaxRuns = 4;             // the first and three repeats
constexpr auto kOutageTimeout = 1500ms; // how long work waits for a database that has just gone: a restart, a failover
constexpr auto kBetweenConnects = 100ms;

/// A place for a connection; empty until first used and after a break.
struct Slot {
    std::unique_ptr<DatabaseLink> link;
    bool busy = false;
};

struct Task {
    std::function<void()> run;
    std::function<void(Error)> refuse;
    SteadyTime queued_at;
};

/// Work that waits for a connection, or has one.
struct Line {
    std::deque<Task> tasks;
    std::size_t running = 0;
};
constexpr std::size_t kLines = 2;
constexpr std::size_t kFewConnections = 4; ///< with less than these none is kept free

/// A thread of the pool that has nothing to do.
struct IdleThread {
    std::condition_variable wake;
    bool is_called = false;
};

/// Which pool the current thread belongs to, and its slot.
struct PoolThread {
    const void* pool = nullptr;
    Slot* slot = nullptr;
};
thread_local PoolThread t_pool_thread;

} // namespace

struct Database::State {
    State(DatabaseOptions database_options, Metrics& metrics)
        : options(std::move(database_options)),
          transaction_seconds(metrics.seconds_histogram("fathom_database_transaction_seconds",
                                                        "Duration of transactions, from BEGIN to COMMIT")),
          waiting_seconds(
              metrics.seconds_histogram("fathom_database_waiting_seconds", "Time that work waited for a connection")),
          refused(metrics.counter("fathom_database_refused_total", "Work refused because the waiting line was full")),
          repeats(metrics.counter("fathom_database_repeats_total", "Transactions run again after a conflict")),
          connects(metrics.counter("fathom_database_connects_total", "Connections opened"))
    {
    }

    void serve();
    void call_idle();
    bool has_room(const Line& line) const;
    Line* next_line();
    Result<void> open(Slot& slot);
    Result<void> transact_on(Slot& slot, Scope scope, const Step& step);

    struct Attempt {
        Result<void> outcome;
        bool again = false;
    };
    Attempt attempt(Slot& slot, Scope scope, const Step& step);

    std::unique_ptr<Slot> take_spare();
    void give_spare(std::unique_ptr<Slot> slot);

    const DatabaseOptions options;
    const Metrics::SecondsHistogram transaction_seconds;
    const Metrics::SecondsHistogram waiting_seconds;
    const Metrics::Counter refused;
    const Metrics::Counter repeats;
    const Metrics::Counter connects;

    std::mutex mutex;
    // The last to have become idle is called first: its connection has its statements planned, and its pages and those
    // of its PostgreSQL process in the caches. In turn, each of many connections would plan each statement anew.
    std::vector<IdleThread*> idle;
    std::condition_variable stopped;
    std::array<Line, kLines> lines;            ///< by DatabaseLine
    std::size_t last_line = 0;                 ///< that a task was taken from
    std::vector<std::unique_ptr<Slot>> spares; // for threads outside the pool
    bool stopping = false;
    // While the database is down: since when, and when someone may try next. Else every queued piece of work
    // would wait its own timeout out, one after another.
    std::optional<SteadyTime> down_since;
    SteadyTime next_try{};
    std::string down_reason;

    std::vector<std::thread> threads;
};

Database::Database(DatabaseOptions options, Metrics& metrics)
    : state_(std::make_unique<State>(std::move(options), metrics))
{
    for (std::size_t i = 0; i < state_->options.connections; ++i)
        state_->threads.emplace_back([state = state_.get()] { state->serve(); });
}

Database::~Database()
{
    stop();
}

Result<void> Database::check()
{
    const auto nothing = [](pqxx::work& transaction) -> Result<void> {
        transaction.exec("SELECT 1");
        return {};
    };
    Result<void> outcome = blocking_run(nothing);
    const std::scoped_lock lock(state_->mutex);
    if (!outcome && state_->down_since) return Error{outcome.error().code, state_->down_reason};
    return outcome;
}

void Database::stop()
{
    std::deque<Task> left;
    {
        const std::scoped_lock lock(state_->mutex);
        state_->stopping = true;
        for (Line& line : state_->lines)
            std::ranges::move(std::exchange(line.tasks, {}), std::back_inserter(left));
        while (!state_->idle.empty())
            state_->call_idle();
    }
    state_->stopped.notify_all();
    for (const Task& task : left)
        task.refuse(Error{Errc::kUnavailable, "the server is stopping"});
    for (std::thread& thread : state_->threads)
        if (thread.joinable()) thread.join();
    const std::scoped_lock lock(state_->mutex);
    state_->spares.clear();
}

void Database::submit(DatabaseLine to, std::function<void()> task, std::function<void(Error)> refused)
{
    Error error;
    {
        const std::scoped_lock lock(state_->mutex);
        Line& line = state_->lines.at(static_cast<std::size_t>(to));
        if (state_->stopping) {
            error = Error{Errc::kUnavailable, "the server is stopping"};
        } else if (line.tasks.size() >= state_->options.waiting) {
            error = Error{Errc::kUnavailable, "too much work waits for the database; try again"};
        } else {
            line.tasks.push_back({std::move(task), std::move(refused), std::chrono::steady_clock::now()});
            if (!state_->idle.empty() && state_->has_room(line)) state_->call_idle();
            return;
        }
    }
    state_->refused.add();
    refused(std::move(error));
}

asio::awaitable<Result<void>> Database::run_step(Scope scope, const Step& step, DatabaseLine line)
{
    // Named on purpose: GCC 12 destroys a capturing temporary twice inside a co_await expression.
    auto initiate = [this, scope, &step, line](auto handler) {
        const auto resume = net::make_resume(std::move(handler)); // it keeps the step
        submit(
            line, [this, scope, &step, resume] { resume(transact(scope, step)); },
            [resume](Error error) { resume(Result<void>(std::move(error))); });
    };
    co_return co_await asio::async_initiate<const asio::use_awaitable_t<>&, void(Result<void>)>(initiate,
                                                                                                asio::use_awaitable);
}

Result<void> Database::transact(Scope scope, const Step& step)
{
    const PoolThread& here = t_pool_thread;
    // Inside a transaction of this very thread its connection is taken; a spare one serves then too.
    if (here.pool == state_.get() && !here.slot->busy) return state_->transact_on(*here.slot, scope, step);
    std::unique_ptr<Slot> spare = state_->take_spare();
    if (spare == nullptr) return Error{Errc::kUnavailable, "the server is stopping"};
    Result<void> outcome = state_->transact_on(*spare, scope, step);
    state_->give_spare(std::move(spare));
    return outcome;
}

/// Calls the thread that became idle last. With the mutex held, and one idle.
void Database::State::call_idle()
{
    IdleThread& thread = *idle.back();
    idle.pop_back();
    thread.is_called = true;
    thread.wake.notify_one();
}

/// With the mutex held.
bool Database::State::has_room(const Line& line) const
{
    const std::size_t kept_free = options.connections < kFewConnections ? 0 : 1;
    return line.running + kept_free < options.connections;
}

/// The line whose turn it is; nullptr: nothing waits that may have a connection now. With the mutex held.
Line* Database::State::next_line()
{
    std::optional<std::size_t> next;
    for (std::size_t i = 0; i < kLines; ++i) {
        if (lines[i].tasks.empty() || !has_room(lines[i])) continue;
        const bool is_better = !next || lines[i].running < lines[*next].running ||
                               (lines[i].running == lines[*next].running && i != last_line);
        if (is_better) next = i;
    }
    if (!next) return nullptr;
    last_line = *next;
    return &lines[*next];
}

/// The life of a pool thread.
void Database::State::serve()
{
    Slot slot;
    t_pool_thread = {this, &slot};
    IdleThread self;
    std::unique_lock lock(mutex);
    for (;;) {
        // A task may be gone when the thread that was called for it comes: to one that had just ended another.
        Line* line = next_line();
        while (line == nullptr && !stopping) {
            self.is_called = false;
            idle.push_back(&self);
            self.wake.wait(lock, [&] { return self.is_called; });
            line = next_line();
        }
        if (line == nullptr) break;
        const Task task = std::move(line->tasks.front());
        line->tasks.pop_front();
        ++line->running;
        lock.unlock();
        waiting_seconds.observe(Seconds(std::chrono::steady_clock::now() - task.queued_at).count());
        task.run();
        lock.lock();
        --line->running;
    }
    t_pool_thread = {};
}

std::unique_ptr<Slot> Database::State::take_spare()
{
    const std::scoped_lock lock(mutex);
    if (stopping) return nullptr;
    if (spares.empty()) return std::make_unique<Slot>();
    std::unique_ptr<Slot> slot = std::move(spares.back());
    spares.pop_back();
    return slot;
}

void Database::State::give_spare(std::unique_ptr<Slot> slot)
{
    const std::scoped_lock lock(mutex);
    if (!stopping && spares.size() < 2) spares.push_back(std::move(slot));
}

Result<void> Database::State::transact_on(Slot& slot, Scope scope, const Step& step)
{
    slot.busy = true;
    const SteadyTime start = std::chrono::steady_clock::now();
    Attempt last;
    for (int run = 1; run <= kMaxRuns; ++run) {
        if (run > 1) repeats.add();
        if (last.outcome = open(slot); !last.outcome) break;
        last = attempt(slot, scope, step);
        if (!last.again) break;
    }
    slot.busy = false;
    transaction_seconds.observe(Seconds(std::chrono::steady_clock::now() - start).count());
    return last.outcome;
}

/// One run of the step on an open slot.
Database::State::Attempt Database::State::attempt(Slot& slot, Scope scope, const Step& step)
{
    bool began = false;
    Attempt result;
    SqlFailure failure;
    CommitActs acts;
    // BEGIN finds out about a connection that died while idle before anything is done. A statement alone cannot tell
    // that from one that may have run, so it goes without only where the server has not said goodbye.
    const bool is_alone = scope == Scope::kStatement && !slot.link->has_input();
    try {
        if (is_alone) {
            pqxx::nontransaction statement(**slot.link);
            began = true;
            result.outcome = step(statement);
        } else {
            pqxx::work transaction(**slot.link);
            began = true;
            result.outcome = step(transaction);
            if (result.outcome) transaction.commit();
        }
    } catch (...) {
        failure = classify_sql_exception(std::current_exception());
        if (is_alone && began && failure.reconnect)
            failure.error = {Errc::kUnavailable,
                             "the database broke off; whether what was asked took place is not known"};
        result.outcome = failure.error;
        result.again = failure.again;
        if (failure.error.code == Errc::kInternal)
            log_error("database_error", {{"sqlstate", failure.sqlstate}, {"error", failure.cause}});
        else if (!failure.cause.empty())
            log_limited("database_refused", {{"sqlstate", failure.sqlstate}, {"error", failure.cause}});
    }
    // A step may have caught the exception itself, so ask the connection, too.
    if (!result.outcome && (failure.reconnect || !slot.link->is_open())) {
        slot.link.reset();
        // Nothing was done yet: the connection had died while idle.
        if (!began) result.again = true;
    }
    if (result.outcome) acts.run();
    return result;
}

/// Makes sure that the slot has a connection. While the database is down only one thread at a time tries,
/// and work is refused at once after a short timeout.
Result<void> Database::State::open(Slot& slot)
{
    if (slot.link) return {};
    std::unique_lock lock(mutex);
    for (;;) {
        const SteadyTime now = std::chrono::steady_clock::now();
        if (!down_since || now >= next_try) {
            next_try = now + kBetweenConnects;
            lock.unlock();
            std::string failure;
            slot.link = connect_database(options.url, options.statement_limit, failure);
            if (slot.link) connects.add();
            lock.lock();
            if (slot.link) {
                if (down_since) log_info("database_back");
                down_since.reset();
                return {};
            }
            if (!down_since) {
                down_since = now;
                log_warning("database_unavailable", {{"error", failure}});
            }
            down_reason = std::move(failure);
        }
        if (std::chrono::steady_clock::now() - *down_since > kOutageTimeout)
            return Error{Errc::kUnavailable, "the database is not available; try again"};
        stopped.wait_for(lock, kBetweenConnects, [this] { return stopping; });
        if (stopping) return Error{Errc::kUnavailable, "the server is stopping"};
    }
}

} // namespace fathom::server
