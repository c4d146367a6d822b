#include "simulator/workloads/workload_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace fathom::simulation {
namespace {

constexpr double kMaxDuration_s = 100 * 365.25 * 86400;
constexpr double kMaxProcessors = 1e9;
constexpr double kWeek_s = 7 * 86400;
constexpr std::size_t kLinesNamed = 10;
constexpr std::size_t kMaxKinds = 10'000;

template <class T>
void reorder(std::vector<T>& values, const std::vector<std::size_t>& order)
{
    std::vector<T> sorted;
    sorted.reserve(values.size());
    for (const std::size_t place : order)
        sorted.push_back(values[place]);
    values = std::move(sorted);
}

} // namespace

std::uint32_t NameIndex::of(std::string_view name)
{
    if (const auto found = index_.find(name); found != index_.end()) return found->second;
    const auto number = static_cast<std::uint32_t>(names_->size());
    names_->emplace_back(name);
    index_.emplace(name, number);
    return number;
}

void count_skip(std::vector<InputSkips>& skips, std::string_view rule, std::int64_t line)
{
    auto found = std::find_if(skips.begin(), skips.end(), [&](const InputSkips& skip) { return skip.rule == rule; });
    if (found == skips.end()) found = skips.insert(skips.end(), {std::string(rule), 0, {}});
    ++found->count;
    if (found->lines.size() < kLinesNamed) found->lines.push_back(line);
}

std::string_view broken_rule(const LoggedJob& job)
{
    if (std::isnan(job.submit_s)) return skip_rule::kNoSubmitTime;
    if (job.submit_s < 0) return skip_rule::kNegativeSubmitTime;
    if (job.run_s < 0 && job.run_s != -1) return skip_rule::kNegativeRunTime;
    if (!(job.run_s > 0)) return skip_rule::kNoRunTime;
    if (job.submit_s > kMaxDuration_s || job.run_s > kMaxDuration_s) return skip_rule::kTooLong;
    if (!(job.units >= 1)) return skip_rule::kNoProcessors;
    if (job.units > kMaxProcessors) return skip_rule::kTooManyProcessors;
    return {};
}

WorkloadBuilder::WorkloadBuilder(std::string_view format, std::string_view name)
    : projects_(input_.workload.projects), users_(input_.workload.users), unit_types_(input_.unit_types),
      job_types_(job_type_names_)
{
    input_.format = format;
    input_.workload.name = name;
    // Names of the readers' own only; who has no user or project gets the empty name.
    input_.workload.projects.clear();
    input_.workload.users.clear();
}

std::uint32_t WorkloadBuilder::job_type(std::string_view name, Scaling scaling)
{
    const std::uint32_t type = job_types_.of(name);
    if (type == input_.job_types.size()) input_.job_types.push_back({std::string(name), scaling});
    return type;
}

std::uint32_t WorkloadBuilder::details_of(const std::vector<std::uint32_t>& unit_types)
{
    if (unit_types.empty()) return 0;
    std::vector<JobDetails>& details = input_.workload.details;
    const auto [place, is_new] = details_.try_emplace(unit_types, static_cast<std::uint32_t>(details.size()));
    if (is_new) {
        details.emplace_back();
        details.back().unit_types = unit_types;
    }
    return place->second;
}

std::uint32_t WorkloadBuilder::program_type(std::int64_t program, std::size_t kind_count)
{
    const std::size_t kinds = std::clamp<std::size_t>(kind_count, 1, kMaxKinds);
    while (input_.job_types.size() < kinds)
        job_type(fmt::format("program_{}", input_.job_types.size() + 1), Scaling::kFixed);
    // The multiplier keeps neighbouring numbers apart.
    const std::uint64_t mixed = static_cast<std::uint64_t>(program) * 0x9E3779B97F4A7C15ULL;
    return static_cast<std::uint32_t>(((mixed >> 32U) * kinds) >> 32U);
}

void WorkloadBuilder::add(const LoggedJob& job)
{
    if (const std::string_view rule = broken_rule(job); !rule.empty()) return skip(rule, job.line);
    ++seen_;
    Job& added = input_.workload.jobs.emplace_back();
    added.arrival_s = job.submit_s;
    added.work = job.run_s;
    added.estimate_s = job.estimate_s > 0 && job.estimate_s <= kMaxDuration_s ? job.estimate_s : 0;
    added.unit_count = static_cast<std::int32_t>(job.units);
    added.job_type = job.job_type;
    added.project = job.project;
    added.user = job.user;
    added.details = job.details;
    input_.lines.push_back(job.line);
}

void WorkloadBuilder::skip(std::string_view rule, std::int64_t line)
{
    ++seen_;
    count_skip(input_.skips, rule, line);
}

void WorkloadBuilder::skip_unreadable(std::string_view rule, std::int64_t line, std::string_view expected)
{
    if (unreadable_++ == 0) {
        first_unreadable_ = line;
        expected_ = expected;
    }
    skip(rule, line);
}

void WorkloadBuilder::sort_by_arrival()
{
    std::vector<Job>& jobs = input_.workload.jobs;
    double latest_s = 0;
    bool is_sorted = true;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        if (jobs[i].arrival_s < latest_s) {
            count_skip(input_.skips, skip_rule::kOutOfOrder, input_.lines[i]);
            is_sorted = false;
        }
        latest_s = std::max(latest_s, jobs[i].arrival_s);
    }
    if (is_sorted) return;
    std::vector<std::size_t> order(jobs.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return std::pair(jobs[a].arrival_s, a) < std::pair(jobs[b].arrival_s, b);
    });
    reorder(jobs, order);
    reorder(input_.lines, order);
}

Result<WorkloadInput> WorkloadBuilder::finish(double begin_s)
{
    std::vector<Job>& jobs = input_.workload.jobs;
    if (2 * unreadable_ > seen_) {
        return Error{Errc::kInvalid,
                     fmt::format("{} of {} lines cannot be read as {}, the first is line {}: expected {}", unreadable_,
                                 seen_, input_.format, first_unreadable_, expected_)};
    }
    if (jobs.empty()) {
        std::string why = "it has no lines with jobs";
        if (!input_.skips.empty()) {
            const InputSkips& first = input_.skips.front();
            why = fmt::format("line {}: {}", first.lines.front(), first.rule);
        }
        return Error{Errc::kInvalid, fmt::format("no job of the file can be used: {}", why)};
    }
    sort_by_arrival();
    const double shift_s = begin_s - kWeek_s * std::floor((jobs.front().arrival_s + begin_s) / kWeek_s);
    for (Job& job : jobs)
        job.arrival_s += shift_s;
    if (input_.workload.projects.empty()) input_.workload.projects.emplace_back();
    if (input_.workload.users.empty()) input_.workload.users.emplace_back();
    input_.workload.first_counted = 0;
    input_.workload.end_counted = jobs.size();
    return std::move(input_);
}

} // namespace fathom::simulation
