#include "server/app/periodic_task.hpp"

#include "core/base/log.hpp"
#include "server/store/statement.hpp"

#include <pqxx/transaction>

#include <random>

namespace fathom::server {
namespace {

constexpr Statement kTryLock{"app_try_lock_periodic_task", "SELECT pg_try_advisory_xact_lock(7233004, hashtext($1))"};

/// Spreads the replicas, which may have started in the same second.
std::chrono::milliseconds jittered(std::chrono::milliseconds period)
{
    thread_local std::minstd_rand random{std::random_device{}()};
    return std::chrono::duration_cast<std::chrono::milliseconds>(
        period * std::uniform_real_distribution<double>(0.9, 1.1)(random));
}

} // namespace

struct PeriodicTaskRunner::PeriodicTask {
    std::string name;
    std::chrono::milliseconds period{};
    Work work;
    Database* database{};
    Metrics::Counter runs;
    Metrics::Counter failures;
};

PeriodicTaskRunner::PeriodicTaskRunner(Database& database, asio::any_io_executor executor, Metrics& metrics)
    : executor_(std::move(executor)), database_(&database), metrics_(&metrics)
{
}

PeriodicTaskRunner::~PeriodicTaskRunner()
{
    coroutines_.close();
}

void PeriodicTaskRunner::add(std::string name, std::chrono::milliseconds period, Work work)
{
    const MetricLabels labels{{"task", name}};
    periodic_tasks_.push_back(std::make_shared<const PeriodicTask>(PeriodicTask{
        std::move(name), period, std::move(work), database_,
        metrics_->counter("fathom_periodic_task_runs_total", "Turns of periodic tasks that this replica took", labels),
        metrics_->counter("fathom_periodic_task_failures_total", "Turns of periodic tasks that failed", labels)}));
}

void PeriodicTaskRunner::start()
{
    for (const auto& task : periodic_tasks_)
        coroutines_.keep_running(executor_, task->name, [task] { return repeat(task); });
}

void PeriodicTaskRunner::stop()
{
    coroutines_.close();
    coroutines_.wait(std::chrono::seconds(20)); // a statement may take up to its time limit
}

asio::awaitable<void> PeriodicTaskRunner::repeat(std::shared_ptr<const PeriodicTask> task)
{
    auto turn = [task](pqxx::work& transaction) -> Result<void> {
        if (!exec(transaction, kTryLock, task->name)[0][0].as<bool>()) return {};
        task->runs.add();
        return task->work(transaction);
    };
    for (;;) {
        co_await net::TaskGroup::sleep(jittered(task->period));
        const Result<void> outcome = co_await task->database->run(turn);
        if (outcome) continue;
        task->failures.add();
        log_warning("periodic_task_failed", {{"task", task->name}, {"error", describe(outcome.error())}});
    }
}

} // namespace fathom::server
