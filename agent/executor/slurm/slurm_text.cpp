#include "agent/executor/slurm/slurm_text.hpp"

#include "core/base/parse_number.hpp"
#include "core/base/split_text.hpp"
#include "core/base/utf8.hpp"
#include "core/base/utf8_prefix.hpp"
#include "core/model/attempt.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace fathom::agent {
namespace {

constexpr std::size_t kMaxReasonBytes = 1000;
constexpr std::int64_t kMaxCount = 1'000'000;
constexpr std::int64_t kMaxMegabytes = 1LL << 40U;

std::string_view trimmed(std::string_view text)
{
    const std::size_t begin = text.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::optional<std::int64_t> number(std::string_view text, std::int64_t most)
{
    text = trimmed(text);
    if (text.ends_with('+')) text.remove_suffix(1); // the least of several, where sinfo joins nodes
    const auto value = parse_number<std::int64_t>(text);
    return value && *value >= 0 && *value <= most ? value : std::nullopt;
}

/// Names and reasons of Slurm are; a line that is not is none of those that we look for.
bool is_printable_ascii(std::string_view text)
{
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

bool is_job_number(std::string_view text)
{
    return !text.empty() && text.size() <= 18 && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string text_of(std::string_view text)
{
    text = trimmed(text);
    return text == "(null)" || text == "n/a" || text == "N/A" ? std::string() : std::string(text);
}

bool is_usable(std::string_view state)
{
    while (!state.empty() && std::string_view("*~#!%$@^-+").find(state.back()) != std::string_view::npos)
        state.remove_suffix(1);
    return state == "idle" || state == "mixed" || state == "allocated" || state == "completing" ||
           state == "reserved" || state == "planned" || state == "powered_down" || state == "powering_up" ||
           state == "powering_down";
}

std::optional<SlurmNode> parse_node(std::string_view line)
{
    const std::vector<std::string_view> fields = split_text(line, '|');
    if (fields.size() != 11 || !is_printable_ascii(line)) return std::nullopt;
    const auto cpus = number(fields[2], kMaxCount);
    const auto sockets = number(fields[3], kMaxCount);
    const auto cores = number(fields[4], kMaxCount);
    const auto memory = number(fields[6], kMaxMegabytes);
    if (!cpus || !sockets || !cores || !memory || *cpus < 1) return std::nullopt;
    SlurmNode node{.partition = text_of(fields[0]),
                   .name = text_of(fields[1]),
                   .cpus = *cpus,
                   .cores = std::clamp<std::int64_t>(*sockets * *cores, 1, *cpus),
                   .memory_bytes = *memory << 20U,
                   .features = text_of(fields[7]),
                   .gres = text_of(fields[8]),
                   .is_usable = is_usable(trimmed(fields[9])),
                   .max_wall_s = parse_slurm_duration(fields[10]).value_or(0)}; // "infinite"
    if (node.partition.empty() || node.name.empty()) return std::nullopt;
    return node;
}

std::optional<SlurmJob> parse_job(std::string_view line)
{
    const std::vector<std::string_view> fields = split_text(line, '|', 10);
    if (fields.size() != 10 || !is_printable_ascii(line)) return std::nullopt;
    const auto status = number(fields[3], UINT32_MAX);
    const auto uid = number(fields[4], UINT32_MAX);
    std::string_view reason = trimmed(fields[9]);
    if (reason.ends_with('|')) reason.remove_suffix(1);
    if (!is_job_number(trimmed(fields[0])) || !status || !uid) return std::nullopt;
    return SlurmJob{.id = text_of(fields[0]),
                    .name = text_of(fields[1]),
                    .state = text_of(fields[2]),
                    .wait_status = *status,
                    .uid = static_cast<unsigned>(*uid),
                    .start = parse_slurm_time(fields[5]),
                    .end = parse_slurm_time(fields[6]),
                    .used_s = parse_slurm_duration(fields[7]),
                    .nodes = text_of(fields[8]),
                    .reason = text_of(reason)};
}

/// sacct's `3:0`, exit code and signal, as wait() gives it.
std::optional<std::int64_t> parse_exit_code(std::string_view text)
{
    const std::vector<std::string_view> parts = split_text(text, ':');
    if (parts.size() != 2) return std::nullopt;
    const auto code = number(parts[0], 255);
    const auto signal = number(parts[1], 127);
    if (!code || !signal) return std::nullopt;
    return *code * 256 + *signal;
}

/// sacct's `00:01.250`, `01:02:03` or `1-02:03:04`, in seconds; 0 for anything else.
double parse_cpu_time(std::string_view text)
{
    text = trimmed(text);
    const std::size_t point = std::min(text.find('.'), text.size());
    const auto whole_s = parse_slurm_duration(text.substr(0, point));
    if (!whole_s) return 0;
    const std::string_view fraction = text.substr(std::min(point + 1, text.size()));
    const auto part_ms = fraction.size() == 3 ? number(fraction, 999) : std::nullopt;
    return static_cast<double>(*whole_s) + static_cast<double>(part_ms.value_or(0)) / 1000;
}

/// The memory, in bytes, of a list such as `cpu=00:00:01,mem=2048,vmem=4096`; 0: there is none in it.
std::int64_t memory_of_list(std::string_view list)
{
    constexpr std::string_view kMemory = "mem=";
    constexpr std::int64_t kMaxBytes = 1LL << 50U;
    for (const std::string_view item : split_text(list, ',')) {
        if (item.starts_with(kMemory)) return number(item.substr(kMemory.size()), kMaxBytes).value_or(0);
    }
    return 0;
}

/// Of a step, `7.batch` or `7.0`, the job's number; empty: the line is none of a step.
std::string_view job_of_step(std::string_view id)
{
    const std::size_t dot = id.find('.');
    return dot != std::string_view::npos && is_job_number(id.substr(0, dot)) ? id.substr(0, dot) : std::string_view();
}

std::optional<SlurmJob> parse_account(const std::vector<std::string_view>& fields)
{
    const auto status = parse_exit_code(fields[3]);
    const auto uid = number(fields[4], UINT32_MAX);
    if (!is_job_number(trimmed(fields[0])) || !status || !uid) return std::nullopt;
    std::string nodes = text_of(fields[7]);
    if (nodes == "None assigned") nodes.clear();
    return SlurmJob{.id = text_of(fields[0]),
                    .name = text_of(fields[1]),
                    .state = text_of(split_text(trimmed(fields[2]), ' ').front()), // "CANCELLED by 1000"
                    .wait_status = *status,
                    .uid = static_cast<unsigned>(*uid),
                    .start = parse_slurm_time(fields[5]),
                    .end = parse_slurm_time(fields[6]),
                    .nodes = std::move(nodes),
                    .reason = {},
                    .cpu_s = parse_cpu_time(fields[8])};
}

/// A node's name, empty when the line has none, and what the cluster keeps of the node for itself.
std::pair<std::string_view, SlurmReserve> parse_reserve(std::string_view line)
{
    std::string_view name;
    std::optional<std::int64_t> all;
    std::optional<std::int64_t> usable;
    std::optional<std::int64_t> memory;
    // The first of each: words of people come last.
    for (const std::string_view word : split_text(line, ' ')) {
        if (name.empty() && word.starts_with("NodeName=")) name = word.substr(9);
        if (!all && word.starts_with("CPUTot=")) all = number(word.substr(7), kMaxCount);
        if (!usable && word.starts_with("CPUEfctv=")) usable = number(word.substr(9), kMaxCount);
        if (!memory && word.starts_with("MemSpecLimit=")) memory = number(word.substr(13), kMaxMegabytes);
    }
    const SlurmReserve reserve{.memory_bytes = memory.value_or(0) << 20U,
                               .cpus = all && usable ? std::max<std::int64_t>(*all - *usable, 0) : 0};
    return {name, reserve};
}

} // namespace

std::vector<SlurmNode> parse_nodes(std::string_view text)
{
    std::vector<SlurmNode> nodes;
    for (const std::string_view line : split_text(text, '\n')) {
        if (nodes.size() == kMaxSlurmNodes) break;
        if (std::optional<SlurmNode> node = parse_node(line)) nodes.push_back(std::move(*node));
    }
    return nodes;
}

std::map<std::string, SlurmReserve, std::less<>> parse_reserves(std::string_view text)
{
    std::map<std::string, SlurmReserve, std::less<>> reserves;
    for (const std::string_view line : split_text(text, '\n')) {
        const auto [name, reserve] = parse_reserve(line);
        if (!name.empty() && reserve != SlurmReserve()) reserves[std::string(name)] = reserve;
        if (reserves.size() == kMaxSlurmNodes) break;
    }
    return reserves;
}

void take_reserve(SlurmNode& node, const SlurmReserve& reserve)
{
    const std::int64_t cpus = std::max<std::int64_t>(node.cpus - reserve.cpus, 1);
    node.cores = std::max<std::int64_t>(node.cores * cpus / node.cpus, 1);
    node.cpus = cpus;
    node.memory_bytes = std::max<std::int64_t>(node.memory_bytes - reserve.memory_bytes, 0);
}

std::vector<SlurmJob> parse_queue(std::string_view text)
{
    std::vector<SlurmJob> jobs;
    for (const std::string_view line : split_text(text, '\n')) {
        if (std::optional<SlurmJob> job = parse_job(line)) jobs.push_back(std::move(*job));
    }
    return jobs;
}

std::vector<SlurmJob> parse_accounts(std::string_view text)
{
    std::vector<SlurmJob> jobs;
    for (const std::string_view line : split_text(text, '\n')) {
        const std::vector<std::string_view> fields = split_text(line, '|');
        if (fields.size() != 11 || !is_printable_ascii(line)) continue;
        if (std::optional<SlurmJob> job = parse_account(fields)) {
            jobs.push_back(std::move(*job));
        } else if (!jobs.empty() && job_of_step(trimmed(fields[0])) == jobs.back().id) { // steps follow their job
            SlurmJob& job_of_it = jobs.back();
            job_of_it.peak_memory_bytes = std::max(job_of_it.peak_memory_bytes, memory_of_list(fields[9]));
            // Not the sum, as which Slurm has it of the job: steps run beside the batch script's, on the same nodes.
            job_of_it.energy_j = std::max(job_of_it.energy_j, number(fields[10], kMaxEnergy_j).value_or(0));
        }
    }
    return jobs;
}

Result<std::string> parse_submitted(std::string_view text)
{
    const std::vector<std::string_view> lines = split_text(text, '\n');
    for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
        const std::string_view id = trimmed(split_text(*line, ';').front());
        if (id.empty()) continue;
        if (!is_job_number(id)) break;
        return std::string(id);
    }
    return Error{Errc::kInvalid, "sbatch gave no job number: " + slurm_reason(text)};
}

std::optional<std::int64_t> parse_slurm_duration(std::string_view text)
{
    text = trimmed(text);
    std::int64_t days = 0;
    if (const std::size_t dash = text.find('-'); dash != std::string_view::npos) {
        const auto value = parse_number<std::int64_t>(text.substr(0, dash));
        if (!value || *value < 0 || *value > kMaxCount) return std::nullopt;
        days = *value;
        text.remove_prefix(dash + 1);
    }
    const std::vector<std::string_view> parts = split_text(text, ':');
    if (parts.size() < 2 || parts.size() > 3) return std::nullopt;
    std::int64_t duration_s = 0;
    for (const std::string_view part : parts) {
        const auto value = parse_number<std::int64_t>(part);
        if (!value || *value < 0 || *value > kMaxCount) return std::nullopt;
        duration_s = duration_s * 60 + *value;
    }
    return days * 86400 + duration_s;
}

std::optional<Timestamp> parse_slurm_time(std::string_view text)
{
    const Result<Timestamp> time = parse_rfc3339(std::string(trimmed(text)) + "Z");
    return time ? std::optional(*time) : std::nullopt;
}

bool is_final_refusal(std::string_view text)
{
    // Limits of an account or a QOS that refuse at once (DenyOnLimit) are named before "Job violates accounting/QOS
    // policy".
    for (const std::string_view word : split_text(text, ';')) {
        if (never_starts(trimmed(word))) return true;
    }
    // slurm_strerror() of what no waiting mends.
    constexpr std::array kFinal{
        "Access/permission denied",
        "Invalid account or account/partition combination specified",
        "Invalid feature specification",
        "Invalid generic resource (gres) specification",
        "Invalid partition name specified",
        "Invalid qos specification",
        "Invalid user id",
        "Memory required by task is not available",
        "More processors requested than permitted",
        "Requested node configuration is not available",
        "Requested time limit is invalid",
        "User's group not permitted to use this partition",
    };
    return std::any_of(kFinal.begin(), kFinal.end(),
                       [&](const char* words) { return text.find(words) != std::string_view::npos; });
}

bool is_unreached(std::string_view text)
{
    for (const char* words :
         {"Unable to contact slurm controller", "Socket timed out", "Connection refused", "Zero Bytes were transmitted",
          "Transport endpoint", "Problem talking to the database", "Unable to connect to database"}) {
        if (text.find(words) != std::string_view::npos) return true;
    }
    return false;
}

bool never_starts(std::string_view reason)
{
    constexpr std::array kNever{
        "AccountNotAllowed",
        "AssocMaxCpuMinutesPerJobLimit",
        "AssocMaxCpuPerJobLimit",
        "AssocMaxGRESPerJob",
        "AssocMaxMemPerJob",
        "AssocMaxNodePerJobLimit",
        "AssocMaxWallDurationPerJobLimit",
        "BadConstraints",
        "DependencyNeverSatisfied",
        "InvalidAccount",
        "InvalidQOS",
        "PartitionTimeLimit",
        "QOSMaxCpuMinutesPerJobLimit",
        "QOSMaxCpuPerJobLimit",
        "QOSMaxGRESPerJob",
        "QOSMaxMemoryPerJob",
        "QOSMaxNodePerJobLimit",
        "QOSMaxWallDurationPerJobLimit",
        "QOSMinCpuNotSatisfied",
        "QOSMinGRES",
        "QOSMinMemory",
        "QOSMinNode",
        "QOSNotAllowed",
    };
    return std::any_of(kNever.begin(), kNever.end(), [&](const char* one) { return reason == one; });
}

std::optional<Timestamp> parse_tested_start(std::string_view text)
{
    constexpr std::string_view kWords = " to start at ";
    constexpr std::size_t kTimeLength = std::string_view("2026-11-24T19:56:47").size();
    const std::size_t found = text.find(kWords);
    if (found == std::string_view::npos) return std::nullopt;
    return parse_slurm_time(text.substr(found + kWords.size(), kTimeLength));
}

std::string slurm_reason(std::string_view text)
{
    std::string reason;
    for (std::string_view line : split_text(text, '\n')) {
        line = trimmed(line);
        for (const std::string_view word : {"sbatch:", "squeue:", "scancel:", "sinfo:", "sacct:", "error:"}) {
            if (line.starts_with(word)) line = trimmed(line.substr(word.size()));
        }
        if (line.empty()) continue;
        reason += (reason.empty() ? "" : "; ") + std::string(line);
        if (reason.size() > kMaxReasonBytes) break;
    }
    if (!is_utf8(reason)) return "a text that is not UTF-8";
    return std::string(utf8_prefix(reason, kMaxReasonBytes));
}

} // namespace fathom::agent
