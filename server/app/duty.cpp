#include "server/app/duty.hpp"

#include "core/base/log.hpp"
#include "server/store/statement.hpp"

#include <pqxx/transaction>

#include <random>

namespace fathom::server {
namespace {

constexpr Statement kTryLock{"app_try_lock_duty", "SELECT pg_try_advisory_xact_lock(7233004, hashtext($1))"};

/// Spreads the replicas, which may have started in the same second.
std::chrono::milliseconds jittered(std::chrono::milliseconds period)
{
    thread_local std::minstd_rand random{std::random_device{}()};
    return std::chrono::duration_cast<std::chrono::milliseconds>(
        period * std::uniform_real_distribution<double>(0.9, 1.1)(random));
}

} // namespace

struct DutyRunner::Duty {
    std::string name;
    std::chrono::milliseconds period{};
    Work work;
    Database* database{};
    Metrics::Counter runs;
    Metrics::Counter failures;
};

DutyRunner::DutyRunner(Database& database, asio::any_io_executor executor, Metrics& metrics)
    : executor_(std::move(executor)), database_(&database), metrics_(&metrics)
{
}

DutyRunner::~DutyRunner()
{
    tasks_.close();
}

void DutyRunner::add(std::string name, std::chrono::milliseconds period, Work work)
{
    const MetricLabels labels{{"duty", name}};
    duties_.push_back(std::make_shared<const Duty>(
        Duty{std::move(name), period, std::move(work), database_,
             metrics_->counter("fathom_duty_runs_total", "Turns of periodic duties that this replica took", labels),
             metrics_->counter("fathom_duty_failures_total", "Turns of periodic duties that failed", labels)}));
}

void DutyRunner::start()
{
    for (const auto& duty : duties_)
        tasks_.spawn(executor_, duty->name, repeat(duty));
}

void DutyRunner::stop()
{
    tasks_.close();
    tasks_.wait(std::chrono::seconds(20)); // a statement may take up to its time limit
}

asio::awaitable<void> DutyRunner::repeat(std::shared_ptr<const Duty> duty)
{
    auto turn = [duty](pqxx::work& transaction) -> Result<void> {
        if (!exec(transaction, kTryLock, duty->name)[0][0].as<bool>()) return {};
        duty->runs.add();
        return duty->work(transaction);
    };
    for (;;) {
        co_await net::TaskGroup::sleep(jittered(duty->period));
        const Result<void> outcome = co_await duty->database->run(turn);
        if (outcome) continue;
        duty->failures.add();
        log_warning("duty_failed", {{"duty", duty->name}, {"error", describe(outcome.error())}});
    }
}

} // namespace fathom::server
