#include "tests/server/centers/support/network_data.hpp"

#include "server/centers/session_store.hpp"
#include "tests/support/temporary_postgres.hpp"

#include <pqxx/pqxx>

namespace fathom::server::test {

TestStore::TestStore()
    : url_(fathom::test::migrated_database()), database_(DatabaseOptions{.url = url_, .connections = 3}, metrics_)
{
}

std::string TestStore::sql(const std::string& text) const
{
    return fathom::test::run_sql(url_, text);
}

OperatorManifest simple_operator(const std::string& id)
{
    const Json json{
        {"id", id},
        {"category", "hpc"},
        {"description", "an operator of a test"},
        {"parameters", {{{"name", "n"}, {"min", 1}, {"max", 1000}, {"default", 10}, {"description", "size"}}}},
        {"operation_count", "2*n"},
        {"byte_count", "8*n"},
        {"truth", "known"},
        {"tolerance", 1e-12},
        {"precision", "fp64"},
        {"implementations", {{{"resource_type", "cpu"}, {"library", "own"}}}}};
    return parse_operator_manifest(json).value();
}

OperatorManifest uploaded_operator(const std::string& id, std::int64_t version)
{
    OperatorManifest manifest = simple_operator(id);
    manifest.version = version;
    manifest.implementations = {{"cpu", "uploaded"}};
    return manifest;
}

std::string tiny_object()
{
    std::string object("\177ELF\2\1\1", 7);
    object.append(9, '\0');
    object += std::string("\3\0\x3e\0", 4);
    object.append(44, '\0');
    return object;
}

UnitTypeReport unit_type(const std::string& name, std::int64_t unit_count, std::vector<std::string> operators)
{
    UnitTypeReport report;
    report.name = name;
    report.unit_count = unit_count;
    report.cores_per_unit = 5;
    report.operators = std::move(operators);
    return report;
}

Catalog golden_catalog()
{
    Catalog catalog;
    catalog.unit_types = {unit_type("u1", 10, {"op1", "op3", "op4"}), unit_type("u2", 20, {"op1", "op2", "op3", "op5"}),
                          unit_type("u3", 5, {"op1", "op2", "op5"})};
    return catalog;
}

CenterId add_center(TestStore& store, const std::string& name, const Catalog& catalog)
{
    const CenterId id = CenterId::make();
    store
        .run([&](pqxx::work& transaction) -> Result<void> {
            transaction.exec_params(
                "INSERT INTO center (id, name, state, last_seen_at) VALUES ($1, $2, 'online', now())", id.value, name);
            store_catalog(transaction, id, catalog);
            return {};
        })
        .value();
    return id;
}

void add_measurement(TestStore& store, const StoredMeasurement& measurement)
{
    const std::string run = ProbeRunId::make().value;
    const std::string job = JobId::make().value;
    const std::string task = ProbeTaskId::make().value;
    store
        .run([&](pqxx::work& transaction) -> Result<void> {
            transaction.exec_params(
                "INSERT INTO job (id, name, project, spec, submitted_by) VALUES ($1, 'p', 'p', '{}', 't')", job);
            transaction.exec_params("INSERT INTO probe_task (id, name, origin, document, document_sha256, created_by) "
                                    "VALUES ($1, 't', 'job', '{}', $1, 't')",
                                    task);
            transaction.exec_params(
                "INSERT INTO probe_run (id, probe_task_id, center_id, unit_type_id, unit_count, selection, cause, "
                "job_id, state, created_by) SELECT $1, $2, center_id, id, $4, 'catalog', 'command', $3, "
                "'succeeded', 't' FROM unit_type WHERE name = 'u1'",
                run, task, job, measurement.unit_count);
            if (measurement.busy_cores)
                transaction.exec_params("UPDATE probe_run SET busy_cores = $2 WHERE id = $1", run,
                                        *measurement.busy_cores);
            transaction.exec_params("INSERT INTO measurement SELECT $1, $2, 1, 'n=10', '{\"n\": 10}', id, $3, $4, "
                                    "$4, $4, 0, 7, 0, 20, $5, $6, 1e-12, 'fp64', 'own', '00', 0.1, "
                                    "now() - $7::interval FROM unit_type WHERE name = 'u1'",
                                    run, measurement.operator_id, measurement.unit_count, measurement.median_s,
                                    measurement.bytes, measurement.error, measurement.age);
            return {};
        })
        .value();
}

ProbeResult right_result(const ProbeTask& task)
{
    ProbeResult result;
    result.task = task.name;
    result.runner_version = "0.1.0";
    result.wall_s = 1 + static_cast<double>(task.operators.size()); // each takes 1 s
    result.seed = task.seed;
    result.start_up_s = 0.1;
    result.task_s = 0.5;
    for (const OperatorUse& use : task.operators) {
        OperatorResult item;
        item.id = use.id;
        item.version = use.version;
        item.parameters = use.parameters;
        item.count = use.count;
        item.first_s = 0.3;
        item.samples_s = {0.2, 0.1, 0.4};
        item.median_s = 0.2;
        item.ci_low_s = 0.1;
        item.ci_high_s = 0.4;
        item.spread = 0.75;
        item.operations = 20;
        item.bytes = 80;
        item.error = 1e-14;
        item.tolerance = 1e-12;
        item.precision = "fp64";
        item.library = "own";
        item.checksum = "00ff";
        result.operators.push_back(std::move(item));
    }
    return result;
}

void FakeJobWriter::stop_probe_job(pqxx::work& transaction, const JobId& id, const std::string& cause)
{
    static_cast<void>(transaction);
    static_cast<void>(cause);
    stopped.push_back(id);
}

Result<void> FakeJobWriter::insert_probe_job(pqxx::work& transaction, const JobId& id, const JobSpec& spec,
                                             const std::string& submitted_by)
{
    transaction.exec_params("INSERT INTO job (id, label, name, project, job_type, spec, submitted_by) "
                            "VALUES ($1, 'probe', $2, $3, $4, $5::jsonb, $6)",
                            id.value, spec.name, spec.project, spec.type, to_json(spec).dump(), submitted_by);
    jobs.emplace_back(id, spec);
    return {};
}

std::optional<JobWork> FakeJobWork::find_work(pqxx::work&, const std::string& job)
{
    const auto found = jobs.find(job);
    if (found == jobs.end()) return std::nullopt;
    return found->second;
}

} // namespace fathom::server::test
