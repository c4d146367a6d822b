#pragma once

#include "core/base/clock.hpp"
#include "core/base/metrics.hpp"
#include "core/net/task_group.hpp"
#include "server/api/compute_pool.hpp"
#include "server/learning/calibration.hpp"
#include "server/learning/operator_accuracy_store.hpp"
#include "server/store/database.hpp"

namespace fathom::server {

/// What was predicted against what came, for people and for gauges. Thread-safe.
class LearningService {
  public:
    LearningService(Database& database, Metrics& metrics, const Clock& clock, ComputePool& compute)
        : database_(&database), metrics_(&metrics), clock_(&clock), compute_(&compute)
    {
    }

    asio::awaitable<Result<Page<PredictionRecord>>> list(PredictionFilter filter, std::int64_t size, std::string after);
    /// Of the newest attempts that ended, at most 5 000.
    asio::awaitable<Result<NetworkCalibration>> calibration();
    /// Predicted against actual of operators in profiled runs, by unit type (select_operator_accuracy).
    asio::awaitable<Result<std::vector<OperatorAccuracy>>> operator_accuracy(OperatorAccuracyFilter filter);

    /// Keeps the gauges of how good predictions are; every replica does.
    void start(net::TaskGroup& group, const asio::any_io_executor& executor);

  private:
    asio::awaitable<void> follow();
    void set_gauges(const NetworkCalibration& calibration) const;

    Database* database_;
    Metrics* metrics_;
    const Clock* clock_;
    ComputePool* compute_;
};

} // namespace fathom::server
