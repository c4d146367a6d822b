#include "server/routing/gpu_shares.hpp"

#include "core/decide/corun/pair_model.hpp"
#include "server/routing/device_tenants.hpp"
#include "server/routing/expected_end.hpp"
#include "server/rows/gpu_kind.hpp"
#include "server/store/column.hpp"
#include "server/store/sql_array.hpp"
#include "server/store/statement.hpp"

#include <pqxx/pqxx>

#include <set>
#include <unordered_map>

namespace fathom::server {
namespace {

// One that its center has not told of yet may be anywhere. Expected ends as the router sees them: AttemptsInUse.
constexpr Statement kSelectGpuTenants{"routing_select_gpu_tenants", R"sql(
    SELECT a.unit_type_id, to_jsonb(a.units) AS units, j.job_type, j.submitted_by, j.project,
           greatest(1, abs(extract(epoch FROM )sql" FATHOM_EXPECTED_END("now()") R"sql( - now())))::float8 AS release_s
    FROM attempt a JOIN job j ON j.id = a.job_id
    )sql" FATHOM_JOIN_ATTEMPT_QUEUE R"sql(
    WHERE a.state <> 'ended' AND a.queued_until IS NULL AND a.units <> '{}' AND a.unit_type_id = ANY ($1::text[])
    ORDER BY a.unit_type_id, a.id)sql"};

} // namespace

std::vector<TenantedGpu> gpus_of(std::int64_t unit_count, std::int64_t units_per_device)
{
    // What is left beyond full devices counts for none (core/decide/capacity/shared_devices.hpp).
    const TenantedGpu free{{}, static_cast<std::size_t>(units_per_device)};
    return std::vector<TenantedGpu>(static_cast<std::size_t>(unit_count / units_per_device), free);
}

void add_tenant(std::vector<TenantedGpu>& gpus, const GpuTenant& tenant, const std::vector<std::int64_t>& units,
                std::int64_t units_per_device)
{
    std::set<std::size_t> seen;
    for (const std::int64_t unit : units) {
        if (unit < 0) continue;
        const auto gpu = static_cast<std::size_t>(unit / units_per_device);
        if (gpu >= gpus.size()) continue;
        if (gpus[gpu].free_parts > 0) --gpus[gpu].free_parts;
        if (seen.insert(gpu).second) gpus[gpu].tenants.push_back(tenant);
    }
}

GpuShares::GpuShares(pqxx::work& transaction, const CatalogSnapshot& catalog) : pairs_(catalog.gpu_pairs.model)
{
    if (!pairs_ || pairs_->pair_count() == 0) return;
    const std::unordered_map<std::string, const UnitTypeView*> shared = with_shared_devices(catalog.unit_types);
    SqlArray ids;
    for (const auto& [id, view] : shared)
        ids.add(id);
    if (shared.empty()) return;
    for (const pqxx::row& row : exec(transaction, kSelectGpuTenants, ids.take())) {
        const auto unit_type = row["unit_type_id"].as<std::string>();
        const UnitTypeView& view = *shared.at(unit_type);
        const auto [gpus, is_new] = gpus_.try_emplace(unit_type);
        if (is_new) gpus->second = gpus_of(view.unit_count, view.units_per_device);
        const std::string kind = gpu_kind_of(
            row["job_type"].c_str(), {row["submitted_by"].c_str(), row["project"].c_str()}, KernelClass::kUnknown);
        add_tenant(gpus->second, {kind, row["release_s"].as<double>()},
                   to_json_value(row["units"]).get<std::vector<std::int64_t>>(), view.units_per_device);
    }
}

void GpuShares::set(RouteRequest& request)
{
    request.gpu_shares.clear();
    if (gpus_.empty() || request.is_probe || request.units.is_exclusive() || request.job_type.empty()) return;
    const std::string kind = gpu_kind_of(request.job_type, request.run_owner(), KernelClass::kUnknown);
    const auto [shares, is_new] = known_.try_emplace(kind);
    for (auto gpus = gpus_.begin(); is_new && gpus != gpus_.end(); ++gpus) {
        if (const std::optional<ExpectedGpuShare> expected = expect_gpu_share(kind, gpus->second, *pairs_))
            shares->second.emplace(gpus->first, *expected);
    }
    request.gpu_shares = shares->second;
}

} // namespace fathom::server
