#pragma once

#include "server/jobs/attempt_finalizer.hpp"
#include "server/jobs/attempt_orders_store.hpp"
#include "server/jobs/attempt_output_store.hpp"
#include "server/jobs/attempts_store.hpp"
#include "server/jobs/job_finalizer.hpp"
#include "server/ports/attempt_gateway.hpp"
#include "server/store/database.hpp"
#include "server/store/group_commit.hpp"

namespace fathom::server {

/// Of a job, unless the settings say otherwise.
inline constexpr std::int64_t kMaxOutputBytes = 64LL << 20U;

/// An attempt that a center reports of, with its job, locked.
struct ReportedAttempt {
    AttemptJob job;
    bool ends{false}; ///< its end is told in the same transaction: what comes before is history when anybody reads it
};

/// What reports are taken with. All of it outlives the service.
struct AttemptsParts {
    Database& database;
    asio::any_io_executor executor;
    Metrics& metrics;
    const CatalogCache& catalog;
    const JobFinalizer& finalizer;
    const Clock& clock;
};

/// What agents report of attempts, and what follows for their jobs, each in one transaction:
///
///     attempt  placed -> dispatched -> running -> ended      (any state may go straight to ended)
///     job      placed -> dispatched -> running -> succeeded | failed | cancelled
///
/// Reports may repeat, come late or out of order: a state is only ever left forwards. Thread-safe.
class AttemptsService final : public AttemptGateway {
  public:
    explicit AttemptsService(const AttemptsParts& parts, std::int64_t most_output_bytes = kMaxOutputBytes);

    asio::awaitable<Result<Reconciliation>> reconcile(Reporter reporter,
                                                      std::vector<link::InventoryItem> inventory) override;
    asio::awaitable<Result<PendingOrders>> pending_orders(Reporter reporter, std::vector<std::string> on_their_way,
                                                          std::int64_t room_bytes) override;
    asio::awaitable<Result<std::vector<CenterId>>> centers_with_orders(std::string replica) override;
    asio::awaitable<std::vector<Result<void>>> take_reports(Reporter reporter,
                                                            std::vector<AttemptReport> reports) override;
    asio::awaitable<Result<void>> attempt_output(Reporter reporter, link::AttemptOutput output) override;
    asio::awaitable<Result<void>> note_queues(Reporter reporter, link::QueueReport report,
                                              CatalogNotice notice) override;

  private:
    using Answers = std::vector<Result<void>>;

    asio::awaitable<Result<void>> take_alone(Reporter reporter, AttemptReport report);
    /// An error undoes all of them.
    Result<Answers> take_all(pqxx::work& transaction, const Reporter& reporter,
                             const std::vector<AttemptReport>& reports) const;
    Result<void> carry_out(pqxx::work& transaction, const ReportedAttempt& attempt, const AttemptReport& report,
                           JobChanges& changes) const;
    /// Of an order that nobody can read: its job fails, with the reason.
    Result<void> end_unreadable(pqxx::work& transaction, const CenterId& center, const UnreadableOrder& order,
                                JobChanges& changes) const;
    Result<void> end_missing(pqxx::work& transaction, const CenterId& center, const std::vector<std::string>& held,
                             JobChanges& changes) const;

    Database* database_;
    ProbeJobObserver* probes_;
    AttemptFinalizer ends_;
    const CatalogCache* catalog_;
    const Clock* clock_;
    GroupCommit<NewOutput, OutputFate> output_;
};

} // namespace fathom::server
