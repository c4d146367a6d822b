#include "server/billing/accounting_export.hpp"

#include "server/billing/csv_text.hpp"
#include "server/store/column.hpp"

#include <pqxx/pqxx>

#include <algorithm>
#include <array>
#include <utility>

namespace fathom::server {
namespace {

using std::chrono::microseconds;

constexpr const char* kSelectSummaries = R"sql(
    SELECT to_char(u.until_at AT TIME ZONE 'UTC', 'YYYY-MM') AS period, u.center, u.project, u.submitted_by,
           u.score_milli, u.unit_count * greatest(u.cores_per_unit, 1) AS processors,
           min(u.until_at) AS earliest_end, max(u.until_at) AS latest_end,
           sum(round(extract(epoch FROM u.until_at - u.from_at) * 1e6))::bigint AS wall_us,
           sum(u.cpu_us)::bigint AS cpu_us, count(*) AS job_count
    FROM usage_record u
    WHERE u.kind = 'compute' AND u.until_at > u.from_at AND ($1 = '' OR u.project = $1) AND ($2 = '' OR u.center = $2)
      AND ($3::timestamptz IS NULL OR u.until_at >= $3::timestamptz)
      AND ($4::timestamptz IS NULL OR u.until_at < $4::timestamptz)
      AND NOT EXISTS (SELECT 1 FROM usage_record n WHERE n.source = u.source AND n.revision > u.revision)
    GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3, 4, 5, 6)sql";

/// "Name: value" on a line; what would end the line or the record is left out.
void append_field(std::string& out, std::string_view name, std::string_view value)
{
    out += name;
    out += ": ";
    for (const char c : value)
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    out += '\n';
}

void append_field(std::string& out, std::string_view name, std::int64_t value)
{
    out += name;
    out += ": ";
    append_number(out, value);
    out += '\n';
}

std::int64_t epoch_s(Timestamp time)
{
    return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
}

std::int64_t rounded_s(std::int64_t us)
{
    return (us + 500'000) / 1'000'000;
}

void append_service_level(std::string& out, const ServiceLevelType& type, std::int64_t score_milli)
{
    if (type.empty()) return;
    append_field(out, "ServiceLevelType", type);
    std::string score;
    append_decimal(score, score_milli, 3);
    append_field(out, "ServiceLevel", score);
}

std::int64_t processors_of(const UsageRecord& usage)
{
    return usage.unit_count * std::max<std::int64_t>(usage.cores_per_unit, 1);
}

/// The words of Slurm for how an attempt ended.
std::string_view slurm_state(const UsageRecord& usage)
{
    constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kStates{{{"signalled", "FAILED"},
                                                                                    {"wall_limit", "TIMEOUT"},
                                                                                    {"cancelled", "CANCELLED"},
                                                                                    {"failed_to_start", "FAILED"},
                                                                                    {"lost", "NODE_FAIL"},
                                                                                    {"out_of_memory", "OUT_OF_MEMORY"},
                                                                                    {"node_failure", "NODE_FAIL"},
                                                                                    {"preempted", "PREEMPTED"}}};
    for (const auto& [outcome, state] : kStates)
        if (usage.outcome == outcome) return state;
    return usage.exit_code == 0 ? "COMPLETED" : "FAILED";
}

/// [DD-]HH:MM:SS
std::string slurm_duration(std::int64_t seconds)
{
    const auto two = [](std::int64_t number) { return (number < 10 ? "0" : "") + std::to_string(number); };
    const std::int64_t days = seconds / 86400;
    return (days > 0 ? two(days) + "-" : std::string()) + two(seconds % 86400 / 3600) + ":" + two(seconds % 3600 / 60) +
           ":" + two(seconds % 60);
}

std::string slurm_time(Timestamp time)
{
    return format_rfc3339(time).substr(0, 19);
}

std::string tres_of(const UsageRecord& usage)
{
    std::string tres =
        "cpu=" + std::to_string(processors_of(usage)) + ",node=1,billing=" + std::to_string(processors_of(usage));
    if (usage.resource_type == "gpu") tres += ",gres/gpu=" + std::to_string(usage.unit_count);
    return tres;
}

} // namespace

void append_apel_job(std::string& out, const UsageRecord& usage, const ServiceLevelType& service_level)
{
    append_field(out, "Site", usage.center);
    append_field(out, "SubmitHost", "fathom");
    append_field(out, "MachineName", usage.center);
    append_field(out, "Queue", usage.unit_type);
    append_field(out, "LocalJobId", usage.attempt_id);
    append_field(out, "LocalUserId", usage.submitted_by);
    append_field(out, "VO", usage.project);
    append_field(out, "WallDuration", rounded_s((usage.until - usage.from).count()));
    append_field(out, "CpuDuration", rounded_s(usage.cpu_us));
    append_field(out, "Processors", processors_of(usage));
    append_field(out, "NodeCount", 1);
    append_field(out, "StartTime", epoch_s(usage.from));
    append_field(out, "EndTime", epoch_s(usage.until));
    append_field(out, "InfrastructureDescription", "FATHOM");
    append_field(out, "InfrastructureType", "grid");
    append_field(out, "MemoryReal", usage.max_resident_bytes / 1024);
    append_service_level(out, service_level, usage.score_milli);
    out += "%%\n";
}

void append_apel_summary(std::string& out, const UsageSummary& summary, const ServiceLevelType& service_level)
{
    append_field(out, "Site", summary.center);
    append_field(out, "Month", std::stoi(summary.period.substr(5, 2)));
    append_field(out, "Year", std::stoi(summary.period.substr(0, 4)));
    append_field(out, "GlobalUserName", summary.submitted_by);
    append_field(out, "VO", summary.project);
    append_field(out, "SubmitHost", "fathom");
    append_field(out, "InfrastructureType", "grid");
    append_service_level(out, service_level, summary.score_milli);
    append_field(out, "NodeCount", 1);
    append_field(out, "Processors", summary.processors);
    append_field(out, "EarliestEndTime", epoch_s(summary.earliest_end));
    append_field(out, "LatestEndTime", epoch_s(summary.latest_end));
    append_field(out, "WallDuration", rounded_s(summary.wall_us));
    append_field(out, "CpuDuration", rounded_s(summary.cpu_us));
    append_field(out, "NumberOfJobs", summary.job_count);
    out += "%%\n";
}

std::vector<UsageSummary> select_usage_summaries(pqxx::work& transaction, const UsageFilter& filter)
{
    std::optional<std::string> from;
    std::optional<std::string> until;
    if (filter.from) from = format_rfc3339(*filter.from);
    if (filter.until) until = format_rfc3339(*filter.until);
    std::vector<UsageSummary> summaries;
    for (const pqxx::row& row :
         transaction.exec_params(kSelectSummaries, filter.project, filter.center, from ? from->c_str() : nullptr,
                                 until ? until->c_str() : nullptr))
        summaries.push_back(
            {row["period"].as<std::string>(), row["center"].as<std::string>(), row["project"].as<std::string>(),
             row["submitted_by"].as<std::string>(), row["score_milli"].as<std::int64_t>(),
             row["processors"].as<std::int64_t>(), to_timestamp(row["earliest_end"]), to_timestamp(row["latest_end"]),
             row["wall_us"].as<std::int64_t>(), row["cpu_us"].as<std::int64_t>(), row["job_count"].as<std::int64_t>()});
    return summaries;
}

void append_sacct_line(std::string& out, const UsageRecord& usage)
{
    const std::string id = std::to_string(usage.id);
    const std::string cpus = std::to_string(processors_of(usage));
    const std::string tres = tres_of(usage);
    // JobID JobIDRaw Cluster Partition QOS Account Group GID User UID Submit Eligible Start End Elapsed ExitCode State
    // NNodes NCPUS ReqCPUS ReqMem ReqTRES AllocTRES Timelimit NodeList JobName
    const std::array<std::string, 26> fields{id,
                                             id,
                                             usage.center,
                                             usage.unit_type,
                                             "normal",
                                             usage.project,
                                             usage.project,
                                             "0",
                                             usage.submitted_by,
                                             "0",
                                             slurm_time(usage.submitted_at.value_or(usage.from)),
                                             slurm_time(usage.submitted_at.value_or(usage.from)),
                                             slurm_time(usage.from),
                                             slurm_time(usage.until),
                                             slurm_duration(rounded_s((usage.until - usage.from).count())),
                                             std::to_string(usage.exit_code.value_or(0)) + ":0",
                                             std::string(slurm_state(usage)),
                                             "1",
                                             cpus,
                                             cpus,
                                             std::to_string(usage.max_resident_bytes / 1024) + "K",
                                             tres,
                                             tres,
                                             "",
                                             usage.center,
                                             usage.attempt_id};
    for (std::size_t i = 0; i < fields.size(); ++i) {
        if (i > 0) out += '|';
        for (const char c : fields.at(i))
            out += c == '|' || static_cast<unsigned char>(c) < 0x20 ? '_' : c;
    }
    out += '\n';
}

} // namespace fathom::server
