#include "core/net/task_group.hpp"

#include "core/base/log.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <condition_variable>
#include <list>
#include <mutex>
#include <optional>

namespace fathom::net {
namespace {

bool is_strand(const asio::any_io_executor& executor)
{
    return executor.target<asio::strand<asio::io_context::executor_type>>() != nullptr ||
           executor.target<asio::strand<asio::any_io_executor>>() != nullptr;
}

using namespace std::chrono_literals;

// Between the end of a task that was to go on and its next beginning.
constexpr std::chrono::milliseconds kFirstPause = 1s;
constexpr std::chrono::milliseconds kMaxPause = 60s;
constexpr std::chrono::milliseconds kCalmAfter = 60s; ///< a task that ran so long begins with the first pause again

/// What a task threw, for people; empty when it was cancelled, which is the normal end after close().
std::string text_of(const std::exception_ptr& thrown)
{
    try {
        std::rethrow_exception(thrown);
    } catch (const boost::system::system_error& e) {
        return e.code() == asio::error::operation_aborted ? "" : e.what();
    } catch (const std::exception& e) {
        return e.what();
    } catch (...) {
        return "unknown exception";
    }
}

void log_escaped(const std::string& group, const std::string& task, const std::exception_ptr& thrown)
{
    if (!thrown) return;
    if (const std::string text = text_of(thrown); !text.empty())
        log_error("task_failed", {{"group", group}, {"task", task}, {"error", text}});
}

/// What it threw; nothing when it returned.
asio::awaitable<std::exception_ptr> run_once(asio::awaitable<void> task)
{
    try {
        co_await std::move(task);
    } catch (...) {
        co_return std::current_exception();
    }
    co_return nullptr;
}

asio::awaitable<void> run_again_and_again(std::string group, std::string name,
                                          std::function<asio::awaitable<void>()> make)
{
    std::chrono::milliseconds pause = kFirstPause;
    for (;;) {
        const auto began = std::chrono::steady_clock::now();
        asio::awaitable<void> task = make();
        const std::exception_ptr thrown = co_await run_once(std::move(task));
        if (!thrown) co_return;
        const std::string text = text_of(thrown);
        if (text.empty()) co_return; // cancelled
        if (std::chrono::steady_clock::now() - began >= kCalmAfter) pause = kFirstPause;
        log_error("task_failed",
                  {{"group", group}, {"task", name}, {"error", text}, {"starts_again_in_ms", pause.count()}});
        co_await TaskGroup::sleep(pause);
        pause = std::min(2 * pause, kMaxPause);
    }
}

/// One running task. The signal may be used on `executor` only.
struct Task {
    asio::any_io_executor executor;
    asio::cancellation_signal signal;
};

} // namespace

struct TaskGroup::State {
    explicit State(std::string group_name) : name(std::move(group_name)) {}

    const std::string name;
    std::mutex mutex;
    std::condition_variable empty;
    std::list<std::shared_ptr<Task>> tasks;
    bool closed = false;

    /// Takes the task off the list when the last of its handlers is gone, run or destroyed unrun
    /// (an io_context that goes down before its work is done).
    struct Membership {
        std::shared_ptr<State> state;
        std::shared_ptr<Task> task;
        std::optional<std::list<std::shared_ptr<Task>>::iterator> place; ///< in the list; empty: not in it

        Membership(std::shared_ptr<State> s, std::shared_ptr<Task> t) : state(std::move(s)), task(std::move(t)) {}
        ~Membership()
        {
            const std::scoped_lock lock(state->mutex);
            if (!place) return;
            // Not looked for: a group may have a task for each of many thousand connections, which end all at once.
            state->tasks.erase(*place);
            if (state->tasks.empty()) state->empty.notify_all();
        }
        Membership(const Membership&) = delete;
        Membership& operator=(const Membership&) = delete;
    };
};

TaskGroup::TaskGroup(std::string name) : state_(std::make_shared<State>(std::move(name))) {}

TaskGroup::~TaskGroup()
{
    close();
}

bool TaskGroup::spawn(asio::any_io_executor executor, std::string name, asio::awaitable<void> work)
{
    auto task = std::make_shared<Task>();
    task->executor = is_strand(executor) ? executor : asio::any_io_executor(asio::make_strand(executor));
    std::shared_ptr<State::Membership> member; // outlives the lock: its destructor takes the mutex

    const std::scoped_lock lock(state_->mutex);
    if (state_->closed) return false;
    member = std::make_shared<State::Membership>(state_, task);
    member->place = state_->tasks.insert(state_->tasks.end(), task);
    // Posted under the mutex: a cancellation from close() must come to the strand after the start.
    asio::post(task->executor, [member, name = std::move(name), work = std::move(work)]() mutable {
        auto done = [member, name = std::move(name)](const std::exception_ptr& thrown) {
            log_escaped(member->state->name, name, thrown);
        };
        asio::co_spawn(member->task->executor, std::move(work),
                       asio::bind_cancellation_slot(member->task->signal.slot(), std::move(done)));
    });
    return true;
}

bool TaskGroup::keep_running(asio::any_io_executor executor, std::string name,
                             std::function<asio::awaitable<void>()> make)
{
    asio::awaitable<void> task = run_again_and_again(state_->name, name, std::move(make));
    return spawn(std::move(executor), std::move(name), std::move(task));
}

void TaskGroup::close()
{
    const std::scoped_lock lock(state_->mutex);
    state_->closed = true;
    for (const auto& task : state_->tasks) {
        asio::post(task->executor, [task] { task->signal.emit(asio::cancellation_type::terminal); });
    }
}

bool TaskGroup::wait(std::chrono::milliseconds limit)
{
    std::unique_lock lock(state_->mutex);
    return state_->empty.wait_for(lock, limit, [this] { return state_->tasks.empty(); });
}

asio::awaitable<void> TaskGroup::sleep(std::chrono::milliseconds duration)
{
    asio::steady_timer timer(co_await asio::this_coro::executor, duration);
    co_await timer.async_wait(asio::use_awaitable);
}

} // namespace fathom::net
