#include "server/catalog/catalog_gpu_pairs.hpp"

#include "core/decide/corun/shared_runs.hpp"
#include "server/store/statement.hpp"

#include <pqxx/pqxx>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace fathom::server {
namespace {

constexpr Statement kSelectNewestRun{"catalog_select_newest_sharing_run",
                                     "SELECT coalesce(max(id), 0) FROM gpu_sharing_run"};

// As many as are kept (server/jobs/gpu_sharing_store.hpp).
constexpr Statement kSelectSharingRuns{"catalog_select_sharing_runs", R"sql(
    SELECT kind, kind_class, beside, beside_class, concat_ws('/', unit_type_id, unit_count, raw_prediction_basis) AS place,
           pace, together_share
    FROM gpu_sharing_run ORDER BY id DESC LIMIT 8192)sql"};

constexpr Statement kSelectNewestNeed{"catalog_select_newest_gpu_need",
                                      "SELECT coalesce(max(id), 0) FROM gpu_memory_run"};

constexpr Statement kSelectNeeds{"catalog_select_gpu_needs", R"sql(
    SELECT kind, max(persistent_bytes) AS persistent_bytes, max(temporary_bytes) AS temporary_bytes
    FROM gpu_memory_run GROUP BY kind HAVING count(*) >= 2)sql"};

constexpr Statement kSelectNewestPair{
    "catalog_select_newest_turn_pair",
    "SELECT coalesce((extract(epoch FROM max(measured_at)) * 1e6)::bigint, 0) FROM gpu_pair"};

// As many as are kept (server/centers/gpus/gpu_pairs_store.hpp).
constexpr Statement kSelectTurnPairs{"catalog_select_turn_pairs", R"sql(
    SELECT a_kind, b_kind, unit_type_id, avg(a_kept_pace) AS a_kept_pace, avg(b_kept_pace) AS b_kept_pace,
           count(*) AS runs
    FROM (SELECT id, unit_type_id, a_kind, b_kind, a_kept_pace, b_kept_pace FROM gpu_pair WHERE a_kind <= b_kind
          UNION ALL
          SELECT id, unit_type_id, b_kind, a_kind, b_kept_pace, a_kept_pace FROM gpu_pair WHERE a_kind > b_kind) k
    GROUP BY a_kind, b_kind, unit_type_id ORDER BY max(id) DESC LIMIT 8192)sql"};

/// What never ran together is inferred from the newest so many pairs: that takes milliseconds.
constexpr std::size_t kMaxModelledPairs = 512;

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
    auto pairs = std::make_shared<const std::vector<GpuPair>>(learn_pairs(runs));
    const std::span<const GpuPair> modelled(pairs->data(), std::min(pairs->size(), kMaxModelledPairs));
    auto model = std::make_shared<const PairModel>(pair_model_of(modelled));
    return {newest, std::move(pairs), std::move(model)};
}

KnownGpuNeeds select_gpu_needs(pqxx::work& transaction, const KnownGpuNeeds& previous)
{
    const auto newest = exec(transaction, kSelectNewestNeed).front()[0].as<std::int64_t>();
    if (newest == previous.newest_run) return previous;
    std::map<std::string, GpuMemoryRequest> needs;
    for (const pqxx::row& row : exec(transaction, kSelectNeeds))
        needs.insert_or_assign(
            row["kind"].as<std::string>(),
            GpuMemoryRequest{row["persistent_bytes"].as<std::int64_t>(), row["temporary_bytes"].as<std::int64_t>()});
    return {newest, std::make_shared<const std::map<std::string, GpuMemoryRequest>>(std::move(needs))};
}

KnownTurnPairs select_turn_pairs(pqxx::work& transaction, const KnownTurnPairs& previous)
{
    const auto newest = exec(transaction, kSelectNewestPair).front()[0].as<std::int64_t>();
    if (newest == previous.newest_us) return previous;
    std::vector<TurnPair> pairs;
    for (const pqxx::row& row : exec(transaction, kSelectTurnPairs))
        pairs.push_back({.pair = {.a = row["a_kind"].as<std::string>(),
                                  .b = row["b_kind"].as<std::string>(),
                                  .a_share = row["a_kept_pace"].as<double>(),
                                  .b_share = row["b_kept_pace"].as<double>(),
                                  .count = row["runs"].as<std::int64_t>()},
                         .unit_type_id = row["unit_type_id"].as<std::string>()});
    return {newest, std::make_shared<const std::vector<TurnPair>>(std::move(pairs))};
}

std::vector<GpuPair> turn_pairs_for(std::string_view kind, std::string_view unit_type_id,
                                    std::span<const TurnPair> pairs, std::size_t most)
{
    std::vector<GpuPair> chosen;
    std::set<std::string_view> others;
    for (const bool is_here : {true, false}) {
        for (const auto& [pair, place] : pairs) {
            if (chosen.size() == most) return chosen;
            if ((place == unit_type_id) != is_here || (pair.a != kind && pair.b != kind)) continue;
            if (others.insert(pair.a == kind ? pair.b : pair.a).second) chosen.push_back(pair);
        }
    }
    return chosen;
}

} // namespace fathom::server
