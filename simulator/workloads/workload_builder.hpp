#pragma once

#include "simulator/workloads/read_workload.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

namespace fathom::simulation {

/// Rules by which readers leave lines out.
namespace skip_rule {
inline constexpr std::string_view kTruncated = "truncated line";
inline constexpr std::string_view kMalformed = "malformed line";
inline constexpr std::string_view kNoSubmitTime = "no submit time";
inline constexpr std::string_view kNegativeSubmitTime = "negative submit time";
inline constexpr std::string_view kNoRunTime = "no run time";
inline constexpr std::string_view kNegativeRunTime = "negative run time";
inline constexpr std::string_view kTooLong = "a time over 100 years";
inline constexpr std::string_view kNoProcessors = "no processors";
inline constexpr std::string_view kTooManyProcessors = "over a billion processors";
inline constexpr std::string_view kOutOfOrder = "arrival out of order (sorted)";
} // namespace skip_rule

/// Names that are numbered as they come.
class NameIndex {
  public:
    explicit NameIndex(std::vector<std::string>& names) : names_(&names) {}
    std::uint32_t of(std::string_view name);

  private:
    struct Hash : std::hash<std::string_view> {
        using is_transparent = void;
    };
    std::vector<std::string>* names_;
    std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> index_;
};

/// A job as a log tells it, before it is known to be of use. -1 is what logs write where they do not know.
struct LoggedJob {
    std::int64_t line{};
    double submit_s = -1;
    double run_s = -1; ///< work of job types whose scaling is fixed
    double units = -1;
    double estimate_s = 0;
    std::uint32_t job_type{};
    std::uint32_t project{};
    std::uint32_t user{};
    std::uint32_t details{};
};

/// What readers of workloads have in common: names become numbers, lines are left out by rules, jobs are sorted.
class WorkloadBuilder {
  public:
    WorkloadBuilder(std::string_view format, std::string_view name);
    WorkloadBuilder(const WorkloadBuilder&) = delete; // the indices point into it
    WorkloadBuilder& operator=(const WorkloadBuilder&) = delete;

    WorkloadInput& input() { return input_; }
    std::uint32_t project(std::string_view name) { return projects_.of(name); }
    std::uint32_t user(std::string_view name) { return users_.of(name); }
    std::uint32_t unit_type(std::string_view name) { return unit_types_.of(name); }
    std::uint32_t job_type(std::string_view name, Scaling scaling);
    /// One of so many job types, program_1 and so on, for a program of which only the number is known.
    std::uint32_t program_type(std::int64_t program, std::size_t kind_count);
    /// Jobs that may run on these unit types only share one entry.
    std::uint32_t details_of(const std::vector<std::uint32_t>& unit_types);

    /// Takes the job, or leaves it out by the rule that it breaks.
    void add(const LoggedJob& job);
    /// A line is left out.
    void skip(std::string_view rule, std::int64_t line);
    /// A line is left out that cannot even be read. Many of them mean that the file is something else.
    /// @param expected  what should have been there, for people.
    void skip_unreadable(std::string_view rule, std::int64_t line, std::string_view expected);

    /// Jobs by arrival; second 0 is the Monday 00:00 UTC before the first.
    /// @param begin_s  what the log's own second 0 is, counted from a Monday 00:00 UTC.
    /// @error kInvalid  no job is left, or more than half of the lines cannot be read; says which is the first and what
    ///                  was expected there.
    Result<WorkloadInput> finish(double begin_s = 0);

  private:
    void sort_by_arrival();

    WorkloadInput input_;
    NameIndex projects_;
    NameIndex users_;
    NameIndex unit_types_;
    std::vector<std::string> job_type_names_;
    NameIndex job_types_;
    std::map<std::vector<std::uint32_t>, std::uint32_t> details_;
    std::int64_t seen_ = 0;
    std::int64_t unreadable_ = 0;
    std::int64_t first_unreadable_ = 0;
    std::string expected_;
};

/// Counts a line that a rule is about.
void count_skip(std::vector<InputSkips>& skips, std::string_view rule, std::int64_t line);

/// The rule that the job breaks; empty: it is of use.
std::string_view broken_rule(const LoggedJob& job);

} // namespace fathom::simulation
