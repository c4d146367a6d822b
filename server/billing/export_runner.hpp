#pragma once

#include "core/base/clock.hpp"
#include "core/base/metrics.hpp"
#include "core/net/task_group.hpp"
#include "server/api/compute_pool.hpp"
#include "server/billing/export_destination.hpp"
#include "server/billing/export_schedule_store.hpp"
#include "server/billing/scheduled_export.hpp"
#include "server/store/database.hpp"

#include <boost/asio/thread_pool.hpp>

#include <atomic>

namespace fathom::server {

/// Writes the exports of schedules whose time has come. Every replica runs one: a schedule is claimed by one of them,
/// for as long as that goes on saying so. A run that fails is tried again; it is for the same moment then, so that no
/// month is left out, and one that is repeated writes the same file. Thread-safe. All must outlive it.
class ExportRunner {
  public:
    ExportRunner(Database& database, ComputePool& compute, ExportPlaces places, std::string network, const Clock& clock,
                 Metrics& metrics);
    ~ExportRunner();
    ExportRunner(const ExportRunner&) = delete;
    ExportRunner& operator=(const ExportRunner&) = delete;

    void start(net::TaskGroup& group, const asio::any_io_executor& executor);

    /// One look. @return whether a schedule ran, well or not.
    asio::awaitable<Result<bool>> run_next();
    /// Uploads under way end without success.
    void stop() { is_stopping_ = true; }

  private:
    asio::awaitable<void> follow();
    /// Claims again and again, until the run has ended.
    asio::awaitable<void> keep_claim(ExportScheduleId id, std::shared_ptr<const std::atomic<bool>> has_ended);
    asio::awaitable<Result<ExportRun>> run(ExportSchedule schedule);
    /// @return where the file is.
    asio::awaitable<Result<std::string>> write(const ExportSchedule& schedule, ScheduledExport wanted);
    asio::awaitable<Result<std::string>> write_to_folder(const ExportSchedule& schedule, ScheduledExport wanted);
    asio::awaitable<Result<std::string>> write_to_store(const ExportSchedule& schedule, ScheduledExport wanted,
                                                        ExportDestination destination);
    /// Streams it into the file. @return the manifest.
    asio::awaitable<Result<Json>> fill(const ExportSchedule& schedule, const ScheduledExport& wanted, std::FILE* file);
    /// What blocks for long: on threads of its own.
    template <class Work>
    asio::awaitable<Result<void>> block(Work work);

    Database* database_;
    ComputePool* compute_;
    ExportPlaces places_;
    std::string network_;
    const Clock* clock_;
    Metrics::Counter runs_;
    Metrics::Counter failures_;
    std::atomic<bool> is_stopping_ = false;
    net::TaskGroup* group_ = nullptr;
    asio::any_io_executor executor_;
    asio::thread_pool blocking_{1};
};

} // namespace fathom::server
