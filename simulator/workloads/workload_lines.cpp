#include "simulator/workloads/workload_lines.hpp"

#include "core/base/json_reader.hpp"
#include "core/model/preference.hpp"
#include "simulator/workloads/workload_builder.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>

namespace fathom::simulation {
namespace {

constexpr JsonLimits kLimits{.max_bytes = 1UL << 20U, .max_depth = 8};
constexpr double kMaxSeconds = 1e10;
constexpr double kMaxBytes = 1e18;
constexpr std::int64_t kMaxUnits = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t kMaxNameBytes = 256;

/// What one line says: a job, and its names.
struct LineContent {
    Job job;
    JobDetails details;
    std::string job_type;
    std::string project;
    std::string user;
    std::string center;
    std::vector<std::string> unit_types;
};

JobDetails read_details(ObjectReader& reader, std::vector<FieldError>& errors)
{
    JobDetails details;
    details.priority = static_cast<std::int32_t>(reader.optional_integer("priority", -100, 100).value_or(0));
    details.deadline_in_s = reader.optional_number("deadline_in_s", 0, kMaxSeconds);
    details.budget = reader.optional_number("budget", 0, 1e15);
    details.data_in_bytes = reader.optional_number("data_in_bytes", 0, kMaxBytes).value_or(0);
    details.data_out_bytes = reader.optional_number("data_out_bytes", 0, kMaxBytes).value_or(0);
    if (const Json* preference = reader.any("prefer")) details.prefer = parse_preference(*preference, errors);
    return details;
}

LineContent read_content(const Json& json, std::vector<FieldError>& errors)
{
    const ObjectReader::StringRule name_rule{.max_length = kMaxNameBytes};
    ObjectReader reader(json, "", errors);
    LineContent content;
    Job& job = content.job;
    job.arrival_s = reader.required_number("arrival_s", 0, kMaxSeconds);
    job.work = reader.required_number("work_s", 1e-6, kMaxSeconds);
    job.estimate_s = reader.optional_number("estimate_s", 0, kMaxSeconds).value_or(0);
    job.unit_count = static_cast<std::int32_t>(reader.optional_integer("unit_count", 1, kMaxUnits).value_or(1));
    const std::string_view max_units = reader.name_or_former("max_units", "most_units"); // of older files
    job.max_units = static_cast<std::int32_t>(reader.optional_integer(max_units, 1, kMaxUnits).value_or(0));
    content.job_type = reader.optional_string("job_type", name_rule).value_or("");
    content.project = reader.optional_string("project", name_rule).value_or("");
    content.user = reader.optional_string("user", name_rule).value_or("");
    content.center = reader.optional_string("center", name_rule).value_or("");
    content.unit_types = reader.strings("unit_types", 1000, {.min_length = 1, .max_length = kMaxNameBytes});
    content.details = read_details(reader, errors);
    reader.any("name"); // for people who look at the file
    reader.finish(UnknownFields::kReject);
    return content;
}

/// The rule that a line is left out by. What the file itself says is not in it: so there are few.
std::string rule_of(const FieldError& error)
{
    if (error.detail == "is not a known field") return "unknown field";
    return error.field.empty() ? "line " + error.detail : error.field + " " + error.detail;
}

class LinesReader {
  public:
    LinesReader()
    {
        input_.format = "json-lines";
        input_.workload.name = "json-lines";
        // Who names none has the empty name, and only then it is there.
        input_.workload.projects.clear();
        input_.workload.users.clear();
    }

    Result<WorkloadInput> read(std::istream& stream)
    {
        std::string text;
        for (std::int64_t line = 1; std::getline(stream, text); ++line) {
            if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
            ++line_count_;
            read_line(text, line);
        }
        const auto good = static_cast<std::int64_t>(jobs_.size());
        if (good == 0 && line_count_ == 0) return Error{Errc::kInvalid, "there is no job in it"};
        if (2 * good < line_count_)
            return Error{Errc::kInvalid, std::to_string(line_count_ - good) + " of " + std::to_string(line_count_) +
                                             " lines cannot be used; the first, " + first_fault_};
        sort_by_arrival();
        for (const std::string& name : job_type_names_)
            input_.job_types.push_back({.name = name});
        return std::move(input_);
    }

  private:
    void read_line(const std::string& text, std::int64_t line)
    {
        const Result<Json> json = parse_json(text, kLimits);
        if (!json) {
            leave_out("not JSON", line, json.error().detail);
            return;
        }
        std::vector<FieldError> errors;
        const LineContent content = read_content(*json, errors);
        if (!errors.empty()) {
            leave_out(rule_of(errors.front()), line, describe({Errc::kInvalid, "as a job it has errors", errors}));
            return;
        }
        add(content, line);
    }

    void leave_out(const std::string& rule, std::int64_t line, const std::string& detail)
    {
        if (first_fault_.empty()) first_fault_ = "line " + std::to_string(line) + ": " + detail;
        count_skip(input_.skips, rule, line);
    }

    void add(const LineContent& content, std::int64_t line)
    {
        Job job = content.job;
        job.job_type = job_types_.of(content.job_type);
        job.project = projects_.of(content.project);
        job.user = users_.of(content.user);
        job.details = details_of(content);
        if (job.arrival_s < latest_s_) count_skip(input_.skips, skip_rule::kOutOfOrder, line);
        latest_s_ = std::max(latest_s_, job.arrival_s);
        jobs_.emplace_back(job, line);
    }

    /// Most jobs have none, and many others are alike.
    std::uint32_t details_of(const LineContent& content)
    {
        const JobDetails& told = content.details;
        Json key = {told.priority,    told.data_in_bytes, told.data_out_bytes, told.prefer.time,
                    told.prefer.cost, told.prefer.energy, content.center,      content.unit_types};
        key.push_back(told.deadline_in_s ? Json(*told.deadline_in_s) : Json());
        key.push_back(told.budget ? Json(*told.budget) : Json());
        const auto [found, is_new] =
            details_.try_emplace(key.dump(), static_cast<std::uint32_t>(input_.workload.details.size()));
        if (!is_new) return found->second;
        JobDetails details = told;
        if (!content.center.empty()) details.center = centers_.of(content.center);
        for (const std::string& name : content.unit_types)
            details.unit_types.push_back(unit_types_.of(name));
        input_.workload.details.push_back(std::move(details));
        return found->second;
    }

    void sort_by_arrival()
    {
        std::sort(jobs_.begin(), jobs_.end(), [](const auto& a, const auto& b) {
            return std::pair(a.first.arrival_s, a.second) < std::pair(b.first.arrival_s, b.second);
        });
        for (const auto& [job, line] : jobs_) {
            input_.workload.jobs.push_back(job);
            input_.lines.push_back(line);
        }
        input_.workload.end_counted = jobs_.size();
    }

    WorkloadInput input_;
    std::vector<std::pair<Job, std::int64_t>> jobs_; ///< with their lines
    std::vector<std::string> job_type_names_;
    NameIndex job_types_{job_type_names_};
    NameIndex projects_{input_.workload.projects};
    NameIndex users_{input_.workload.users};
    NameIndex centers_{input_.centers};
    NameIndex unit_types_{input_.unit_types};
    std::map<std::string, std::uint32_t> details_;
    std::int64_t line_count_ = 0;
    std::string first_fault_;
    double latest_s_ = 0;
};

} // namespace

Result<WorkloadInput> read_job_lines(std::istream& input)
{
    return LinesReader().read(input);
}

} // namespace fathom::simulation
