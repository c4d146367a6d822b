#pragma once

#include "core/model/center.hpp"
#include "core/model/probe_result.hpp"
#include "server/operators/operators_service.hpp"
#include "server/ports/probe_ports.hpp"
#include "server/store/database.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fathom::server::test {

/// A database with the newest schema, and a pool on it.
class TestStore {
  public:
    TestStore();

    Database& database() { return database_; }
    const std::string& url() const { return url_; }
    /// First field of the first row, or "".
    std::string sql(const std::string& text) const;
    /// Runs work in a transaction of its own.
    template <class Work>
    auto run(Work work)
    {
        return database_.blocking_run(work);
    }

  private:
    std::string url_;
    Metrics metrics_;
    Database database_;
};

/// `op1` … with one parameter `n` (1…1000, default 10), 2·n operations and 8·n bytes.
OperatorManifest simple_operator(const std::string& id);

/// The same, with code of its own, which is to be signed.
OperatorManifest uploaded_operator(const std::string& id, std::int64_t version);
/// The least that says "shared object for x86_64".
std::string tiny_object();

/// A unit type with so many units that runs these operators.
UnitTypeReport unit_type(const std::string& name, std::int64_t unit_count, std::vector<std::string> operators);

/// The catalog that M8 gives as its golden example.
Catalog golden_catalog();

/// Puts an online center with a catalog into the database.
CenterId add_center(TestStore& store, const std::string& name, const Catalog& catalog);

/// One measurement by a probe run of its own on units of type u1.
struct StoredMeasurement {
    std::string operator_id;
    std::int64_t unit_count{1};
    double median_s{};
    double bytes{80};
    double error{0};
    std::string age{"0 seconds"};       ///< an interval of PostgreSQL
    std::optional<double> busy_cores{}; ///< of its host meanwhile; empty: not known
};
/// Puts it into the database with its job, task and run. There must be one unit type u1.
void add_measurement(TestStore& store, const StoredMeasurement& measurement);

/// A right result of a task of simple operators at n = 10.
ProbeResult right_result(const ProbeTask& task);

/// Queues probes' jobs as bare rows, and remembers what they were.
class FakeJobWriter final : public ProbeJobWriter {
  public:
    Result<void> insert_probe_job(pqxx::work& transaction, const JobId& id, const JobSpec& spec,
                                  const std::string& submitted_by) override;
    void stop_probe_job(pqxx::work& transaction, const JobId& id, const std::string& cause) override;

    std::vector<std::pair<JobId, JobSpec>> jobs;
    std::vector<JobId> stopped;
};

/// Jobs that an expert makes tasks from: those that a test puts here.
class FakeJobWork final : public JobWorkSource {
  public:
    std::optional<JobWork> find_work(pqxx::work& transaction, const std::string& job) override;

    std::map<std::string, JobWork> jobs;
};

} // namespace fathom::server::test
