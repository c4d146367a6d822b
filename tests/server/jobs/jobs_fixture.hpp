#pragma once

#include "core/base/secret.hpp"
#include "server/api/api_router.hpp"
#include "server/events/events_api.hpp"
#include "server/events/events_service.hpp"
#include "server/events/events_store.hpp"
#include "server/identity/identity_service.hpp"
#include "server/job_types/job_learning.hpp"
#include "server/job_types/job_types_api.hpp"
#include "server/jobs/attempts_service.hpp"
#include "server/jobs/job_periodic_tasks.hpp"
#include "server/jobs/job_requests.hpp"
#include "server/jobs/jobs_api.hpp"
#include "server/jobs/jobs_service.hpp"
#include "server/jobs/probe_job_writer.hpp"
#include "server/projects/project_members_api.hpp"
#include "server/projects/projects_api.hpp"
#include "server/routing/placement_api.hpp"
#include "server/routing/placement_service.hpp"
#include "server/routing/routing_service.hpp"
#include "tests/support/temporary_postgres.hpp"
#include "tests/support/test_io.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace fathom::server {

/// What probing would do: queues nothing, remembers what was asked.
class FakeProbing final : public ProbePlanner, public ProbeJobObserver {
  public:
    Result<RequestedProbes> request_probes(pqxx::work& transaction, const std::string& job_type,
                                           const std::vector<OperatorUse>& operators,
                                           const std::vector<UnitTypeId>& unit_types) override;
    Result<ProbeProgress> probe_progress(pqxx::work& transaction, const std::string& job_type) override;
    Result<ProbeTaskId> keep_learned_task(pqxx::work& transaction, const LearnedTask& learned) override;
    void probe_job_started(pqxx::work& transaction, const JobId& job,
                           const std::vector<std::string>& able_unit_types) override;
    Result<void> probe_job_ended(pqxx::work& transaction, const EndedProbeJob& ended) override;
    Result<void> probe_job_reported_late(pqxx::work& transaction, const EndedProbeJob& ended) override;

    std::mutex mutex;
    std::vector<std::string> requested; ///< unit types, in the order in which they were asked for
    bool pending = true;
    std::string refusal;  ///< of the task of every type
    std::string obstacle; ///< to every request
    std::vector<LearnedTask> learned;
    std::vector<std::string> able; ///< unit types that a center named when a probe started
    std::vector<EndedProbeJob> ended;
    std::vector<EndedProbeJob> late;
};

/// The machine's clock, until a test moves it.
class FixtureClock final : public Clock {
  public:
    Timestamp now() const override { return SystemClock().now() + ahead_.load(); }
    void advance(Timestamp::duration by) { ahead_ = ahead_.load() + by; }

  private:
    std::atomic<Timestamp::duration> ahead_{Timestamp::duration::zero()};
};

/// What the gateway answers to one report.
asio::awaitable<Result<void>> report(AttemptGateway& gateway, Reporter reporter, AttemptReport one);

/// One replica's rooms on a database of its own; nothing runs by itself unless a test starts it.
class JobsFixture : public ::testing::Test {
  protected:
    JobsFixture();
    ~JobsFixture() override;

    std::string sql(const std::string& text) const { return test::run_sql(url_, text); }
    /// From here on pg_stat_user_tables.seq_scan counts queries that no index serves: only these scan a table as a
    /// whole on connections that are opened now (those that are open do not have the setting).
    void count_sequential_scans() const;

    /// An online center with one unit type that can run dgemm and fft1d. Returns the unit type's id.
    std::string add_center(const std::string& name, std::int64_t units = 2, const std::string& unit_type = "core");
    std::string center_id(const std::string& name) const;
    /// Adds the operator dgemm (m, n, k) to the library.
    void add_operators();
    /// A measurement of dgemm at its default size.
    void add_measurement(const std::string& unit_type_id, double median_s, const std::string& at = "now()",
                         std::int64_t unit_count = 1);
    /// A transfer of 1 MB that took so long.
    void add_transfer(const std::string& unit_type_id, double median_s, const std::string& at = "now()");
    /// What add_measurement and add_transfer have in common; `values` are SQL for operator_id, parameters_key,
    /// operations and bytes.
    void insert_measurement(const std::string& unit_type_id, const std::string& values, double median_s,
                            const std::string& at, std::int64_t unit_count);
    void reload_catalog() { ASSERT_TRUE(catalog_.load()); }
    /// A token of this role; returns its principal.
    Principal add_token(const std::string& name, Role role);

    /// `{"command": ["true"]}` with what is in `more`.
    static Json spec(Json more = Json::object());
    JobId submit(const Json& body, const Principal& who);
    JobId submit(const Json& body = spec()) { return submit(body, admin_); }
    /// Routes until nothing more can be placed.
    void route();
    std::string state_of(const JobId& job) const;
    AttemptId attempt_of(const JobId& job) const;
    CenterId center_of(const JobId& job) const;
    std::vector<std::string> events_of(const JobId& job) const;
    /// Submits and takes a job to this state by what an agent would report.
    JobId job_in(const std::string& state);
    /// What the center's agent would be told now, with this much room for orders to start.
    std::vector<link::Body> orders_for(const CenterId& center, std::int64_t room_bytes = 16 << 20);
    Result<void> report_start(const JobId& job);
    Result<void> report_end(const JobId& job, AttemptEnd end);
    /// Of a program that began now and ran 1.5 s.
    static AttemptEnd exited(std::int64_t code);
    Result<void> write_output(const JobId& job, std::int64_t offset, std::string data,
                              const std::string& stream = "stdout");

    /// A request through the REST router with this principal's token.
    net::Response call(net::Method method, const std::string& target, const std::string& body = "",
                       const net::Headers& headers = {}, const std::string& user = "admin");

    template <class T>
    T run(asio::awaitable<T> task)
    {
        return io_.run(std::move(task));
    }

    const std::string url_;
    test::TestIo io_;
    Metrics metrics_;
    FixtureClock clock_;
    Database database_;
    ComputePool compute_;
    Notifier notifier_;
    FakeProbing probing_;
    JobFinalizer finalizer_;
    CatalogCache catalog_;
    JobLearning learning_;
    JobTypesService job_types_;
    ProjectsService projects_;
    ProjectMembersService project_members_;
    EventsService events_;
    JobsService jobs_;
    AttemptsService attempts_;
    UnitLoadService unit_loads_; ///< looks when a test says so
    RoutingService routing_;
    PlacementService placements_;
    JobPeriodicTasks periodic_tasks_;
    IdentityService identity_;
    net::Router router_;
    ApiRouter api_;
    net::TaskGroup tasks_{"test"};
    std::map<std::string, std::string> secrets_;
    Principal admin_;
};

/// Collects what is streamed; ends the stream when told to.
class FakeWriter final : public net::BodyWriter {
  public:
    asio::awaitable<Result<void>> write(std::string chunk) override;
    asio::awaitable<Result<void>> sleep(std::chrono::milliseconds duration) override;

    std::string text() const;
    /// How long it was asked to sleep, each time.
    std::vector<std::chrono::milliseconds> pauses() const;
    void hang_up();

  private:
    mutable std::mutex mutex_;
    std::string text_;
    std::vector<std::chrono::milliseconds> pauses_;
    bool gone_ = false;
};

} // namespace fathom::server
