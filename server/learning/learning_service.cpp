#include "server/learning/learning_service.hpp"

#include "core/base/log.hpp"

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

/// Enough for shares to a percent.
constexpr std::int64_t kMaxRecords = 5000;

constexpr auto kGaugesEvery = 15s;

} // namespace

asio::awaitable<Result<Page<PredictionRecord>>> LearningService::list(PredictionFilter filter, std::int64_t size,
                                                                      std::string after)
{
    auto work = [&](pqxx::work& transaction) -> Result<Page<PredictionRecord>> {
        return select_predictions(transaction, filter, size, after);
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<NetworkCalibration>> LearningService::calibration()
{
    auto read = [](pqxx::work& transaction) -> Result<std::vector<PredictionRecord>> {
        return select_ended_predictions(transaction, kMaxRecords);
    };
    const Result<std::vector<PredictionRecord>> ended = co_await database_->run(std::move(read));
    if (!ended) co_return ended.error();
    auto calibrate = [&]() -> Result<NetworkCalibration> { return calibrate_network(*ended, clock_->now()); };
    co_return co_await compute_->run(std::string(), std::move(calibrate));
}

asio::awaitable<Result<std::vector<OperatorAccuracy>>> LearningService::operator_accuracy(OperatorAccuracyFilter filter)
{
    auto work = [&](pqxx::work& transaction) -> Result<std::vector<OperatorAccuracy>> {
        return select_operator_accuracy(transaction, filter);
    };
    co_return co_await database_->run(std::move(work));
}

void LearningService::start(net::TaskGroup& group, const asio::any_io_executor& executor)
{
    group.keep_running(executor, "prediction_gauges", [this] { return follow(); });
}

asio::awaitable<void> LearningService::follow()
{
    for (;;) {
        const Result<NetworkCalibration> now = co_await calibration();
        if (now)
            set_gauges(*now);
        else
            log_debug("prediction_gauges_failed", {{"error", describe(now.error())}});
        co_await net::TaskGroup::sleep(kGaugesEvery);
    }
}

void LearningService::set_gauges(const NetworkCalibration& calibration) const
{
    const auto set = [this](const char* figure, std::int64_t count, double within_share) {
        if (count == 0) return; // nothing is neither right nor wrong
        metrics_->set("fathom_prediction_within_share",
                      "Of newly ended jobs, the share whose figure came into its 80 % interval.", within_share,
                      {{"figure", figure}});
    };
    set("run", calibration.all.run.job_count, calibration.all.run.within_share);
    set("wait", calibration.all.wait.count, calibration.all.wait.within_share);
    set("cost", calibration.all.cost.count, calibration.all.cost.within_share);
}

} // namespace fathom::server
