#include "server/centers/gpus/shared_gpu_gauges.hpp"

#include <pqxx/pqxx>

#include <array>
#include <map>
#include <string>

namespace fathom::server {
namespace {

// A center that has none left has zeros: its gauges would else stay as they were.
constexpr const char* kSumByCenter = R"sql(
    SELECT c.name AS center, coalesce(sum((g.report->>'capacity_bytes')::bigint), 0)::float8 AS capacity,
           coalesce(sum((g.report->>'persistent_bytes')::bigint), 0)::float8 AS persistent,
           coalesce(sum((g.report->>'temporary_bytes')::bigint), 0)::float8 AS temporary,
           coalesce(sum((g.report->>'free_bytes')::bigint), 0)::float8 AS free,
           coalesce(sum((g.report->>'job_count')::bigint), 0)::float8 AS programs,
           coalesce(sum((g.report->>'refused_count')::bigint), 0)::float8 AS refused
    FROM center c LEFT JOIN shared_gpu g ON g.center_id = c.id
    WHERE c.revoked_at IS NULL AND EXISTS (SELECT FROM unit_type u WHERE u.center_id = c.id AND u.resource_type <> 'cpu')
    GROUP BY c.name)sql";

// Of a GPU, and of the programs that are on it: only one of them has temporary memory at a time.
constexpr const char* kFiguresByGpu = R"sql(
    SELECT c.name AS center, g.gpu, coalesce((g.report->>'capacity_bytes')::float8, 0) AS capacity,
           coalesce((g.report->>'persistent_bytes')::float8, 0) AS persistent,
           coalesce((g.report->>'temporary_bytes')::float8, 0) AS temporary,
           coalesce((g.report->>'free_bytes')::float8, 0) AS free,
           coalesce((g.report->>'job_count')::float8, 0) AS programs,
           coalesce((g.report->>'refused_count')::float8, 0) AS refused, of_programs.*
    FROM shared_gpu g JOIN center c ON c.id = g.center_id, LATERAL (
        SELECT coalesce(sum((p->'persistent'->>'used_bytes')::float8), 0) AS persistent_used,
               coalesce(sum((p->'persistent'->>'peak_bytes')::float8), 0) AS persistent_peak,
               coalesce(max((p->'temporary'->>'used_bytes')::float8), 0) AS temporary_used,
               coalesce(max((p->'temporary'->>'peak_bytes')::float8), 0) AS temporary_peak,
               coalesce(sum((p->>'switches')::float8), 0) AS switches,
               coalesce(sum((p->>'switch_s')::float8), 0) AS switch_s,
               coalesce(sum((p->>'moved_bytes')::float8), 0) AS moved_bytes,
               coalesce(sum((p->>'kept_bytes')::float8), 0) AS kept_bytes,
               coalesce(sum((p->>'refusals')::float8), 0) AS refusals
        FROM jsonb_array_elements(g.report->'jobs') p) of_programs
    WHERE c.revoked_at IS NULL ORDER BY c.name, g.gpu LIMIT $1)sql";

// What a monitoring system bears of one server. Beyond that the sums by center tell.
constexpr int kMaxGpus = 1000;

struct GpuFigure {
    const char* column;
    const char* name;
    const char* kind; ///< label; empty: none
    const char* help;
};

constexpr const char* kRooms = "Memory of a GPU that jobs share: all, given by kind, and free.";
constexpr const char* kUsed = "Memory that programs on the GPU use now, by kind.";
constexpr const char* kPeaks = "Memory that programs on the GPU have used at most, by kind.";

constexpr std::array kGpuFigures{
    GpuFigure{"capacity", "fathom_gpu_memory_bytes", "capacity", kRooms},
    GpuFigure{"persistent", "fathom_gpu_memory_bytes", "persistent", kRooms},
    GpuFigure{"temporary", "fathom_gpu_memory_bytes", "temporary", kRooms},
    GpuFigure{"free", "fathom_gpu_memory_bytes", "free", kRooms},
    GpuFigure{"persistent_used", "fathom_gpu_used_bytes", "persistent", kUsed},
    GpuFigure{"temporary_used", "fathom_gpu_used_bytes", "temporary", kUsed},
    GpuFigure{"persistent_peak", "fathom_gpu_peak_bytes", "persistent", kPeaks},
    GpuFigure{"temporary_peak", "fathom_gpu_peak_bytes", "temporary", kPeaks},
    GpuFigure{"programs", "fathom_gpu_programs", "", "Programs that have memory on the GPU."},
    GpuFigure{"refused", "fathom_gpu_refused_programs", "", "Programs that did not fit since the agent started."},
    GpuFigure{"switches", "fathom_gpu_switches", "", "Turns that programs on the GPU gave back."},
    GpuFigure{"switch_s", "fathom_gpu_switch_seconds", "", "Time that giving these turns back took."},
    GpuFigure{"moved_bytes", "fathom_gpu_moved_bytes", "", "Bytes that were copied for these turns."},
    GpuFigure{"kept_bytes", "fathom_gpu_kept_bytes", "", "Bytes that swapping everything would have copied, too."},
    GpuFigure{"refusals", "fathom_gpu_refusals", "", "Allocations that were refused to programs on the GPU."},
};

void set_gauges_by_gpu(pqxx::transaction_base& transaction, Metrics& metrics)
{
    const pqxx::result rows = transaction.exec_params(kFiguresByGpu, kMaxGpus);
    std::map<std::string, std::map<MetricLabels, double>> gauges;
    std::map<std::string, std::string> helps;
    for (const GpuFigure& figure : kGpuFigures) {
        std::map<MetricLabels, double>& gauge = gauges[figure.name];
        helps[figure.name] = figure.help;
        for (const pqxx::row& row : rows) {
            MetricLabels labels{{"center", row["center"].as<std::string>()}, {"gpu", row["gpu"].as<std::string>()}};
            if (*figure.kind != '\0') labels["kind"] = figure.kind;
            gauge[labels] = row[figure.column].as<double>();
        }
    }
    for (const auto& [name, values] : gauges)
        metrics.replace(name, helps[name], values);
}

} // namespace

void set_shared_gpu_gauges(pqxx::transaction_base& transaction, Metrics& metrics)
{
    set_gauges_by_gpu(transaction, metrics);
    for (const pqxx::row& row : transaction.exec(kSumByCenter)) {
        const auto center = row["center"].as<std::string>();
        for (const char* kind : {"capacity", "persistent", "temporary", "free"})
            metrics.set("fathom_shared_gpu_memory_bytes",
                        "Memory of GPUs that jobs share: all, taken by kind, and free.", row[kind].as<double>(),
                        {{"center", center}, {"kind", kind}});
        metrics.set("fathom_shared_gpu_programs", "Programs that have memory on GPUs that jobs share.",
                    row["programs"].as<double>(), {{"center", center}});
        metrics.set("fathom_shared_gpu_refused_programs",
                    "Programs that did not fit on a GPU since the center's agent started.", row["refused"].as<double>(),
                    {{"center", center}});
    }
}

} // namespace fathom::server
