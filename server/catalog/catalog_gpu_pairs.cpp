#include "server/catalog/catalog_gpu_pairs.hpp"

#include "core/decide/corun/shared_runs.hpp"
#include "server/store/statement.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

constexpr Statement kSelectNewestRun{"catalog_select_newest_sharing_run",
                                     "SELECT coalesce(max(id), 0) FROM gpu_sharing_run"};

// As many as are kept (server/jobs/gpu_sharing_store.hpp).
constexpr Statement kSelectSharingRuns{"catalog_select_sharing_runs", R"sql(
    SELECT kind, kind_class, beside, beside_class, concat_ws('/', unit_type_id, unit_count, promise_basis) AS place,
           pace, together_share
    FROM gpu_sharing_run ORDER BY id DESC LIMIT 8192)sql"};

KernelClass class_of(const pqxx::field& field)
{
    return parse_kernel_class(field.c_str()).value_or(KernelClass::kUnknown);
}

SharedRun to_shared_run(const pqxx::row& row)
{
    return {.kind = row["kind"].as<std::string>(),
            .kernel_class = class_of(row["kind_class"]),
            .beside = row["beside"].as<std::string>(),
            .beside_class = class_of(row["beside_class"]),
            .place = row["place"].as<std::string>(),
            .pace = row["pace"].as<double>(),
            .together_share = row["together_share"].as<double>()};
}

} // namespace

KnownGpuPairs select_gpu_pairs(pqxx::work& transaction, const KnownGpuPairs& previous)
{
    const auto newest = exec(transaction, kSelectNewestRun).front()[0].as<std::int64_t>();
    if (newest == previous.newest_run) return previous;
    std::vector<SharedRun> runs;
    for (const pqxx::row& row : exec(transaction, kSelectSharingRuns))
        runs.push_back(to_shared_run(row));
    return {newest, std::make_shared<const std::vector<GpuPair>>(learn_pairs(runs))};
}

} // namespace fathom::server
