#include "server/jobs/attempt_orders_store.hpp"

#include "core/decide/corun/shared_runs.hpp"
#include "core/model/data_location.hpp"
#include "core/model/operator_package.hpp"
#include "server/catalog/catalog_gpu_pairs.hpp"
#include "server/jobs/gpu_class.hpp"
#include "server/rows/gpu_kind.hpp"
#include "server/rows/live_probes.hpp"
#include "server/store/column.hpp"
#include "server/store/sql_array.hpp"
#include "server/store/statement.hpp"

#include <pqxx/pqxx>

#include <algorithm>
#include <set>

namespace fathom::server {
namespace {

/// SQL: of the probes at the host of `center`, whichever centers they are of, the one that may be there now: one that
/// was sent and has not ended, else the oldest one that waits for a center that is heard. Null: there is none. Routers
/// leave a probe waiting while another one is at its host; here those meet that two routers placed at once.
#define FATHOM_PROBE_OF_HOST(column, center)                                                                           \
    "(SELECT " column " FROM " FATHOM_LIVE_PROBES " WHERE c.host_id = (SELECT host_id FROM center WHERE id = " center  \
    ") "                                                                                                               \
    "ORDER BY o.dispatched_at IS NULL, o.id LIMIT 1)"

/// SQL: whether the attempt `a` of the job `j` at `center` need not wait for a probe at its host. PostgreSQL looks for
/// one once a statement, and only where a probe waits.
#define FATHOM_MAY_BE_SENT(center)                                                                                     \
    "(j.label <> 'probe' OR a.dispatched_at IS NOT NULL "                                                              \
    "OR NOT EXISTS (SELECT 1 FROM center WHERE id = " center " AND host_id IS NOT NULL) "                              \
    "OR a.id = " FATHOM_PROBE_OF_HOST("o.id", center) ")"

/// Of what there is to send, oldest first, as much as fits into $3 bytes, but one at least
/// where there is any room.
constexpr Statement kChooseOrders{"jobs_choose_orders", R"sql(
    SELECT id, is_new_probe, $3 > 0 AND (bytes <= $3 OR place = 1) AS fits
    FROM (SELECT a.id, j.label = 'probe' AND a.dispatched_at IS NULL AS is_new_probe,
                 sum(j.spec_bytes + coalesce(octet_length(j.secret_environment), 0)) OVER in_line AS bytes,
                 row_number() OVER in_line AS place
          FROM attempt a JOIN job j ON j.id = a.job_id
          WHERE a.center_id = $1 AND a.state = 'placed' AND j.cancel_requested_at IS NULL AND a.id <> ALL ($2::text[])
            AND )sql" FATHOM_MAY_BE_SENT("$1") R"sql(
          WINDOW in_line AS (ORDER BY a.id) ORDER BY a.id LIMIT 1000) waiting
    ORDER BY id)sql"};

// One at a time sends a probe to a host, and sees what the one before it has sent: the next statement looks again.
constexpr Statement kLockHost{"jobs_lock_host_of_center", R"sql(
    SELECT pg_advisory_xact_lock(7233006, hashtext(host_id)) FROM center WHERE id = $1 AND host_id IS NOT NULL)sql"};

constexpr Statement kMarkOrdersSent{"jobs_mark_orders_sent", R"sql(
    UPDATE attempt a SET dispatched_at = clock_timestamp() FROM job j
    WHERE j.id = a.job_id AND a.id = ANY ($1::text[]) AND a.state = 'placed' AND a.dispatched_at IS NULL
      AND j.cancel_requested_at IS NULL AND )sql" FATHOM_MAY_BE_SENT("$2") R"sql(
    RETURNING a.id, a.unit_type_id,
              j.label = 'probe' AND EXISTS (SELECT 1 FROM probe_run r
                                            WHERE r.job_id = j.id AND r.unit_count = 0) AS center_counts)sql"};

// M14: the center may take all that is free. Under the same lock as the router's reservations, and as there the sum is
// a statement of its own after it.
constexpr const char* kLockUnitType = "SELECT unit_count FROM unit_type WHERE id = $1 FOR NO KEY UPDATE";
constexpr const char* kReserveFreeUnits = R"sql(
    UPDATE attempt SET unit_count = unit_count + greatest(0, $3 - (SELECT sum(o.unit_count) FROM attempt o
                                                                   WHERE o.unit_type_id = $2 AND o.state <> 'ended'))
    WHERE id = $1)sql";

// selection 'center' is M13d: the agent may choose another unit type.
constexpr Statement kSelectOrders{"jobs_select_orders", R"sql(
    SELECT a.id, a.job_id, j.name, j.label, coalesce(j.steps ->> 'type', j.job_type) AS job_type,
           u.id AS unit_type_id, u.name AS unit_type, a.unit_count, j.spec, j.secret_environment, coalesce(r.selection = 'center', false) AS center_chooses,
           coalesce(r.unit_count = 0, false) AS center_counts,
           coalesce(c.facts ->> 'stages_inputs' = 'true', false) AS stages_inputs,
           coalesce(c.facts ->> 'stores_outputs' = 'true', false) AS stores_outputs,
           coalesce(c.facts ->> 's3' = 'true', false) AS has_object_store,
           coalesce(c.facts -> 'software' ->> 'modules' = 'true', false) AS has_modules,
           coalesce(c.facts -> 'software' ->> 'containers' = 'true', false) AS has_containers,
           left(coalesce(c.facts ->> 's3_refusal', ''), 1000) AS s3_refusal,
           c.facts ->> 'keeps_outputs_bytes' IS NOT NULL AS knows_outputs_of_jobs,
           coalesce(c.facts ->> 'maps_users' = 'true', false) AS maps_users, j.submitted_by,
           coalesce(p.name, '') AS account, j.project
    FROM attempt a JOIN job j ON j.id = a.job_id JOIN unit_type u ON u.id = a.unit_type_id
    JOIN center c ON c.id = a.center_id
    LEFT JOIN probe_run r ON r.job_id = j.id
    LEFT JOIN user_account p ON p.token_id = j.submitted_by
    WHERE a.id = ANY ($1::text[]) AND a.state = 'placed' AND a.dispatched_at IS NOT NULL
      AND j.cancel_requested_at IS NULL
    ORDER BY a.id)sql"};

constexpr Statement kSelectCenterOfNextProbe{
    "jobs_select_center_of_next_probe",
    "SELECT " FATHOM_PROBE_OF_HOST("o.center_id", "(SELECT center_id FROM attempt WHERE id = $1)")};

void reserve_free_units(pqxx::work& transaction, const pqxx::row& attempt)
{
    const auto unit_type = attempt["unit_type_id"].as<std::string>();
    const auto units = transaction.exec_params1(kLockUnitType, unit_type)[0].as<std::int64_t>();
    transaction.exec_params0(kReserveFreeUnits, attempt["id"].as<std::string>(), unit_type, units);
}

/// What a probe needs of the units that run it, each operator once.
std::vector<OperatorNeed> needs_of(const JobSpec& spec)
{
    std::vector<OperatorNeed> needs;
    for (const OperatorUse& use : spec.operators) {
        OperatorNeed need{use.id, false};
        for (const auto& [name, content] : spec.files)
            need.is_uploaded |= is_operator_package_name(name) && name.starts_with("operator-" + use.id + "-");
        if (std::find(needs.begin(), needs.end(), need) == needs.end()) needs.push_back(std::move(need));
    }
    return needs;
}

/// A job that names no operators was given those of its type when it was submitted. Each id once.
std::vector<std::string> known_operators_of(const JobSpec& spec)
{
    std::set<std::string> ids;
    for (const OperatorUse& use : spec.operators)
        ids.insert(use.id);
    return {ids.begin(), ids.end()};
}

/// @error kInternal  they are no texts; what they are is not said.
Result<void> add_secrets(const pqxx::field& secrets, std::map<std::string, std::string>& environment)
{
    if (secrets.is_null()) return {};
    const Json values = Json::parse(secrets.c_str(), nullptr, false);
    bool is_good = values.is_object();
    for (const auto& [name, value] : values.items()) {
        is_good = is_good && value.is_string();
        if (is_good) environment[name] = value.get<std::string>();
    }
    if (!is_good) return Error{Errc::kInternal, "its secret environment cannot be read"};
    return {};
}

/// What earlier runs of that kind had; nothing where none is known.
GpuMemoryRequest learned_need_of(const std::string& kind, const CatalogSnapshot& catalog)
{
    const auto& needs = catalog.gpu_needs.by_kind;
    if (needs == nullptr) return {};
    const auto found = needs->find(kind);
    return found == needs->end() ? GpuMemoryRequest() : found->second;
}

/// The job's own variables, with what it needs of GPUs' memory as libfathom-gpu.so reads it (docs/gpu-memory.md); of a
/// job that says nothing what the agent may choose its GPU by, which is no reservation.
std::map<std::string, std::string> environment_of(JobSpec& spec, const GpuMemoryRequest& learned)
{
    std::map<std::string, std::string> variables = std::move(spec.environment);
    const GpuMemoryRequest& need = spec.units.gpu_memory;
    if (need.all_bytes() == 0) {
        if (learned.all_bytes() == 0) return variables;
        variables["FATHOM_GPU_LEARNED_PERSISTENT_BYTES"] = std::to_string(learned.persistent_bytes);
        variables["FATHOM_GPU_LEARNED_TEMPORARY_BYTES"] = std::to_string(learned.temporary_bytes);
        return variables;
    }
    variables["FATHOM_GPU_PERSISTENT_BYTES"] = std::to_string(need.persistent_bytes);
    variables["FATHOM_GPU_TEMPORARY_BYTES"] = std::to_string(need.temporary_bytes);
    return variables;
}

/// Whether data of the job is named by s3:// URLs.
bool uses_object_store(const JobSpec& spec)
{
    const auto is_of_store = [](const auto& data) { return is_object_url(data.url); };
    return std::any_of(spec.inputs.begin(), spec.inputs.end(), is_of_store) ||
           std::any_of(spec.outputs.begin(), spec.outputs.end(), is_of_store);
}

/// @error kInfeasible  the center's agent is too old for what the job asks of it, or has no object store.
Result<void> check_staging(const pqxx::row& row, const JobSpec& spec)
{
    const auto refuse = [](const std::string& what) {
        return Error{Errc::kInfeasible,
                     "staging failed: the agent of this center is too old to " + what + "; update it"};
    };
    if (!spec.inputs.empty() && !row["stages_inputs"].as<bool>()) return refuse("stage inputs");
    if (!spec.outputs.empty() && !row["stores_outputs"].as<bool>()) return refuse("store outputs");
    // An agent that has never heard of such URLs would not even take the order.
    if (uses_object_store(spec) && !row["has_object_store"].as<bool>()) {
        const auto refusal = row["s3_refusal"].as<std::string>();
        const std::string cause = refusal.empty() ? "this center has no object store for s3:// URLs" : refusal;
        return Error{Errc::kInfeasible, "staging failed: " + cause};
    }
    return {};
}

/// An agent that is older than inputs which are outputs of jobs fetches them as any other.
std::vector<JobInput> inputs_of(const pqxx::row& row, JobSpec& spec)
{
    const bool knows_outputs = row["knows_outputs_of_jobs"].as<bool>();
    for (JobInput& input : spec.inputs) {
        input.kept_at.clear(); // the metascheduler's own
        if (!knows_outputs) input.from.clear();
    }
    return std::move(spec.inputs);
}

/// The router knows what centers have; one may have lost it since.
/// @error kInfeasible  the center has not what the job needs.
Result<void> check_software(const pqxx::row& row, const JobSpec& spec)
{
    const SoftwareKinds here{.modules = row["has_modules"].as<bool>(), .containers = row["has_containers"].as<bool>()};
    const SoftwareKinds needed = kinds_of(spec.software);
    if (here.have(needed)) return {};
    return Error{Errc::kInfeasible, "this center has not what the job needs of " + to_string(needed)};
}

/// With its secrets. @error of what cannot be read.
Result<JobSpec> read_spec(const pqxx::row& row)
{
    Result<JobSpec> spec = parse_job_spec(to_json_value(row["spec"]));
    if (!spec) return spec;
    if (const Result<void> added = add_secrets(row["secret_environment"], spec->environment); !added)
        return added.error();
    return spec;
}

/// What the row's center cannot do of it; empty: it can do all.
std::optional<UnreadableOrder> find_refusal(const pqxx::row& row, const JobSpec& spec)
{
    const AttemptId id{row["id"].as<std::string>()};
    if (const Result<void> fits = check_staging(row, spec); !fits)
        return UnreadableOrder{id, fits.error(), AttemptCause::kStagingFailed};
    if (const Result<void> fits = check_software(row, spec); !fits) return UnreadableOrder{id, fits.error()};
    return std::nullopt;
}

/// Centers that have no use for it are not told.
AttemptOwner owner_of(const pqxx::row& row, const JobSpec& spec)
{
    const bool maps_users = row["maps_users"].as<bool>();
    // What a job may do with a center's object store is decided there, by project.
    if (!maps_users && !uses_object_store(spec)) return {};
    return {.submitter = row["submitted_by"].as<std::string>(),
            .account = maps_users ? row["account"].as<std::string>() : std::string(),
            .project = row["project"].as<std::string>()};
}

/// What the agent chooses a job's neighbours on a GPU by.
struct GpuSharing {
    KernelClass kernel_class{KernelClass::kUnknown};
    std::string kind{};
    std::vector<GpuPair> pairs{};
    std::vector<GpuPair> turn_pairs{};
};

/// Told only of jobs that may get parts of devices: others have nobody beside them.
GpuSharing gpu_sharing_of(const pqxx::row& row, const JobSpec& spec, const CatalogSnapshot& catalog)
{
    const UnitTypeView* const unit_type = catalog.find_unit_type(row["unit_type_id"].c_str());
    const bool may_share = unit_type != nullptr && unit_type->units_per_device != 1 && !spec.units.is_exclusive();
    if (!may_share || row["label"].as<std::string>() == "probe") return {};
    GpuSharing sharing;
    sharing.kernel_class = gpu_class_of(spec.operators, catalog);
    sharing.kind = gpu_kind_of(row["job_type"].c_str(), {row["submitted_by"].c_str(), row["project"].c_str()},
                               sharing.kernel_class);
    if (!sharing.kind.empty() && catalog.gpu_pairs.pairs)
        sharing.pairs = pairs_for(sharing.kind, *catalog.gpu_pairs.pairs, kMaxGpuPairs);
    if (!sharing.kind.empty() && catalog.turn_pairs.pairs)
        sharing.turn_pairs = turn_pairs_for(sharing.kind, unit_type->id.value, *catalog.turn_pairs.pairs, kMaxGpuPairs);
    return sharing;
}

AttemptOrder to_order(const pqxx::row& row, JobSpec spec, const CatalogSnapshot& catalog)
{
    const bool is_probe = row["label"].as<std::string>() == "probe";
    GpuSharing sharing = gpu_sharing_of(row, spec, catalog);
    AttemptOwner owner = owner_of(row, spec);
    return {.attempt_id = {row["id"].as<std::string>()},
            .job_id = {row["job_id"].as<std::string>()},
            .name = row["name"].as<std::string>(),
            .label = row["label"].as<std::string>(),
            .unit_type = row["unit_type"].as<std::string>(),
            .center_chooses = row["center_chooses"].as<bool>(),
            .unit_count = row["unit_count"].as<std::int64_t>(),
            .center_counts = row["center_counts"].as<bool>(),
            .is_exclusive = spec.units.is_exclusive(),
            .operators = is_probe ? needs_of(spec) : std::vector<OperatorNeed>(),
            .command = std::move(spec.command),
            .script = std::move(spec.script),
            .environment = environment_of(spec, learned_need_of(sharing.kind, catalog)),
            .files = std::move(spec.files),
            .inputs = inputs_of(row, spec),
            .software = std::move(spec.software),
            .outputs = std::move(spec.outputs),
            .wall_limit_s = spec.wall_limit_s,
            .profile = spec.profile,
            .known_operators = spec.profile && !is_probe ? known_operators_of(spec) : std::vector<std::string>(),
            .kernel_class = sharing.kernel_class,
            .gpu_kind = std::move(sharing.kind),
            .gpu_pairs = std::move(sharing.pairs),
            .turn_pairs = std::move(sharing.turn_pairs),
            .owner = std::move(owner)};
}

constexpr Statement kSelectUnwantedAttempts{"jobs_select_unwanted_attempts", R"sql(
    SELECT a.id, j.cancel_requested_at IS NOT NULL AS is_cancelled FROM attempt a JOIN job j ON j.id = a.job_id
    WHERE a.center_id = $1 AND a.state <> 'ended'
      AND (j.cancel_requested_at IS NOT NULL OR a.queued_until < now() - interval '10 seconds')
    ORDER BY a.id)sql"};

constexpr Statement kSelectCentersWithOrders{"jobs_select_centers_with_orders", R"sql(
    SELECT DISTINCT a.center_id FROM attempt a JOIN job j ON j.id = a.job_id JOIN center c ON c.id = a.center_id
    WHERE c.session_replica = $1 AND a.state <> 'ended'
      AND (a.state = 'placed' OR j.cancel_requested_at IS NOT NULL
           OR a.queued_until < now() - interval '10 seconds'))sql"};

constexpr Statement kSelectCentersToRecallFrom{"jobs_select_centers_to_recall_from", R"sql(
    SELECT DISTINCT center_id FROM attempt WHERE queued_until < now() - interval '10 seconds' AND state <> 'ended')sql"};

} // namespace

ClaimedOrders claim_orders(pqxx::work& transaction, const CenterId& center, const OrderLimit& limit,
                           const CatalogSnapshot& catalog)
{
    ClaimedOrders claimed;
    SqlArray chosen;
    bool has_chosen = false;
    bool has_new_probe = false;
    const std::string on_their_way = sql_array(limit.on_their_way);
    for (const pqxx::row& row : exec(transaction, kChooseOrders, center.value, on_their_way, limit.bytes)) {
        if (row["fits"].as<bool>()) {
            chosen.add(row["id"].as<std::string>());
            has_chosen = true;
            has_new_probe = has_new_probe || row["is_new_probe"].as<bool>();
        } else {
            claimed.has_more = true;
        }
    }
    if (!has_chosen) return claimed;
    const std::string ids = chosen.take();
    if (has_new_probe) exec(transaction, kLockHost, center.value);
    for (const pqxx::row& row : exec(transaction, kMarkOrdersSent, ids, center.value)) {
        if (row["center_counts"].as<bool>()) reserve_free_units(transaction, row);
    }
    for (const pqxx::row& row : exec(transaction, kSelectOrders, ids)) {
        Result<JobSpec> spec = read_spec(row);
        if (!spec)
            claimed.unreadable.push_back({{row["id"].as<std::string>()}, spec.error()});
        else if (std::optional<UnreadableOrder> refused = find_refusal(row, *spec))
            claimed.unreadable.push_back(std::move(*refused));
        else
            claimed.orders.push_back(to_order(row, std::move(*spec), catalog));
    }
    return claimed;
}

std::optional<CenterId> select_center_of_next_probe(pqxx::work& transaction, const AttemptId& ended)
{
    const pqxx::result rows = exec(transaction, kSelectCenterOfNextProbe, ended.value);
    if (rows.empty() || rows[0][0].is_null()) return std::nullopt;
    return CenterId{rows[0][0].as<std::string>()};
}

std::vector<UnwantedAttempt> select_unwanted_attempts(pqxx::work& transaction, const CenterId& center)
{
    std::vector<UnwantedAttempt> attempts;
    for (const pqxx::row& row : exec(transaction, kSelectUnwantedAttempts, center.value))
        attempts.push_back({{row["id"].as<std::string>()}, row["is_cancelled"].as<bool>()});
    return attempts;
}

std::vector<CenterId> select_centers_with_orders(pqxx::work& transaction, const std::string& replica)
{
    std::vector<CenterId> centers;
    for (const pqxx::row& row : exec(transaction, kSelectCentersWithOrders, replica))
        centers.push_back({row[0].as<std::string>()});
    return centers;
}

std::vector<CenterId> select_centers_to_recall_from(pqxx::work& transaction)
{
    std::vector<CenterId> centers;
    for (const pqxx::row& row : exec(transaction, kSelectCentersToRecallFrom))
        centers.push_back({row[0].as<std::string>()});
    return centers;
}

} // namespace fathom::server
