#include "simulator/live/export_jobs.hpp"

#include "core/decide/prediction/device_choice.hpp"
#include "core/model/job.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <set>

namespace fathom::simulation {
namespace {

constexpr std::string_view kPageSize = "200"; // jobs may hold scripts and files
constexpr std::int64_t kUsualLimitS = 86400;  // of a job whose owner set none: it says nothing of the job
constexpr double kMinRestS = 1;

const Json& spec_of(const Json& job)
{
    return member(job, "spec");
}

const Json& units_of(const Json& job)
{
    return member(spec_of(job), "units");
}

std::int64_t integer_of(const Json& json, std::string_view name, std::int64_t absent)
{
    const Json& value = member(json, name);
    return value.is_number_integer() ? value.get<std::int64_t>() : absent;
}

/// How many units the job asks for: from … to.
struct UnitRange {
    std::int64_t least{1};
    std::int64_t most{1};
};

UnitRange range_of(const Json& job, std::int64_t largest)
{
    const Json& units = units_of(job);
    if (member(units, "count").is_number_integer()) {
        const std::int64_t count = integer_of(units, "count", 1);
        return {count, count};
    }
    const std::int64_t least = integer_of(units, "min", 1);
    return {least, std::max(least, std::min(integer_of(units, "max", 1024), largest))};
}

std::int64_t largest_unit_type(const Json& unit_types)
{
    std::int64_t largest = 1;
    for (const Json& unit_type : unit_types)
        largest = std::max(largest, integer_of(unit_type, "unit_count", 0));
    return largest;
}

bool names(const Json& names_or_ids, const Json& unit_type, const char* name, const char* id)
{
    return std::any_of(names_or_ids.begin(), names_or_ids.end(),
                       [&](const Json& one) { return one == member(unit_type, name) || one == member(unit_type, id); });
}

bool is_wanted(const Json& job, const Json& unit_type)
{
    const Json& units = units_of(job);
    const std::string type = text_of(units, "type", "any");
    if (type != "any" && !names(Json::array({type}), unit_type, "name", "id")) return false;
    const std::string center = text_of(units, "center", "");
    if (!center.empty() && !names(Json::array({center}), unit_type, "center", "center_id")) return false;
    const Json& sites = items_of(member(spec_of(job), "data"), "sites");
    if (!sites.empty() && !names(sites, unit_type, "center", "center_id")) return false;
    const std::string device = text_of(units, "device", "");
    if (!device.empty() && (device == "gpu") != is_device(text_of(unit_type, "resource_type"))) return false;
    if (integer_of(unit_type, "memory_bytes_per_unit", 0) < integer_of(units, "memory_bytes", 0)) return false;
    const Json& has = items_of(member(unit_type, "facts"), "isa");
    const Json& needs = items_of(units, "isa");
    return std::all_of(needs.begin(), needs.end(),
                       [&](const Json& one) { return std::find(has.begin(), has.end(), one) != has.end(); });
}

/// The unit types that the job may run on; empty: on any.
Json wanted_unit_types(const Json& job, const Json& unit_types)
{
    Json wanted = Json::array();
    for (const Json& unit_type : unit_types) {
        if (is_wanted(job, unit_type))
            wanted.push_back(text_of(unit_type, "center") + "/" + text_of(unit_type, "name"));
    }
    return wanted.size() == unit_types.size() ? Json::array() : wanted;
}

double input_bytes(const Json& data)
{
    double bytes = 0;
    for (const Json& input : items_of(data, "in"))
        bytes += number_of(input, "bytes").value_or(0);
    return bytes;
}

/// The job without what it runs, which may be large and is in no export.
Json without_content(Json job)
{
    if (!member(job, "spec").is_object()) return job;
    for (const char* field : {"command", "script", "files", "environment", "secret_environment", "inputs", "outputs"})
        job["spec"].erase(field);
    return job;
}

/// Reads the list of jobs page by page, as long as `take` wants more of it.
/// @param state  of the jobs; empty: all.
Result<void> read_job_pages(NetworkSource& source, const std::string& state,
                            const std::function<bool(const Json&)>& take)
{
    std::string page_token;
    do {
        const Result<Json> page =
            source.get("/jobs", {{"state", state}, {"page_size", std::string(kPageSize)}, {"page_token", page_token}});
        if (!page) return page.error();
        if (!take(items_of(*page))) return {};
        page_token = text_of(*page, "next_page_token", "");
    } while (!page_token.empty());
    return {};
}

bool has_ended(const Json& job)
{
    const std::optional<JobState> state = parse_job_state(text_of(job, "state"));
    return !state || is_final(*state);
}

/// What a job is to run, in reference seconds, and where it holds its units already.
struct Work {
    double work_s{};
    std::string held_at; ///< center/unit type
};

/// Lines of jobs, one after another.
class JobExporter {
  public:
    JobExporter(NetworkSource& source, const Json& unit_types, const std::map<std::string, ExportedType>& types,
                const ExportSpan& span)
        : source_(source), unit_types_(unit_types), types_(types), span_(span), largest_(largest_unit_type(unit_types))
    {
    }

    Result<void> add(const Json& job)
    {
        // To name no unit types would be to let it run on any.
        if (std::none_of(unit_types_.begin(), unit_types_.end(),
                         [&](const Json& unit_type) { return is_wanted(job, unit_type); })) {
            ++exported_.left_out["no unit type is what it asks for"];
            return {};
        }
        const Result<std::optional<Work>> found = has_ended(job) ? past_work(job) : coming_work(job);
        if (!found) return found.error();
        const std::optional<Work> work = *found;
        if (!work) {
            ++exported_.left_out[has_ended(job) ? "never ran" : "no run time is known of it"];
            return {};
        }
        exported_.waiting += has_ended(job) ? 0 : 1;
        exported_.lines.push_back(line_of(job, *work));
        return {};
    }

    ExportedJobs take() { return std::move(exported_); }

  private:
    const ExportedType& type_of(const Json& job) const { return types_.at(text_of(job, "type")); }

    Result<std::optional<Work>> past_work(const Json& job) const
    {
        const double run_s = number_of(job, "run_s").value_or(0);
        if (run_s <= 0) return std::optional<Work>();
        const Json& attempt = member(job, "attempt");
        const std::string unit_type_id = text_of(attempt, "unit_type_id");
        const std::optional<double> work_s =
            type_of(job).work_of(run_s, unit_type_id, integer_of(attempt, "unit_count", 1));
        return std::optional(Work{.work_s = work_s.value_or(run_s), .held_at = ""});
    }

    /// By what was predicted for its place, if it has one; else by what is predicted now.
    Result<std::optional<Work>> coming_work(const Json& job)
    {
        const Json& attempt = member(job, "attempt");
        std::optional<ExpectedRun> run;
        if (const double run_s = number_of(member(job, "predicted"), "run_s").value_or(0); run_s > 0)
            run = ExpectedRun{run_s, text_of(attempt, "unit_type_id"), integer_of(attempt, "unit_count", 1)};
        if (!run) {
            const Result<std::optional<ExpectedRun>> expected = expected_of(job);
            if (!expected) return expected.error();
            run = *expected;
        }
        if (!run && type_of(job).least_s > 0) return std::optional(Work{.work_s = type_of(job).least_s, .held_at = ""});
        if (!run) return std::optional<Work>();
        Work work;
        const std::optional<Timestamp> started = time_of(job, "started_at");
        double run_s = run->run_s;
        if (started && *started < span_.since) {
            run_s = std::max(run_s - Seconds(span_.since - *started).count(), kMinRestS);
            work.held_at = text_of(attempt, "center") + "/" + text_of(attempt, "unit_type");
        } else if (started) {
            run_s = std::max(run_s, Seconds(span_.now - *started).count());
        }
        work.work_s = type_of(job).work_of(run_s, run->unit_type_id, run->unit_count).value_or(run_s);
        return std::optional(work);
    }

    /// The server is asked once for all jobs that it would answer the same of: of long queues most are alike.
    Result<std::optional<ExpectedRun>> expected_of(const Json& job)
    {
        const Json kind = Json::array(
            {text_of(job, "type"), text_of(job, "project"), units_of(job), items_of(spec_of(job), "operators")});
        const auto [known, is_new] = expected_.try_emplace(kind.dump(), std::nullopt);
        if (!is_new) return known->second;
        const Result<std::optional<ExpectedRun>> expected = expected_run(source_, job);
        if (expected) known->second = *expected;
        return expected;
    }

    Json line_of(const Json& job, const Work& work) const
    {
        const Json& spec = spec_of(job);
        const Timestamp submitted = time_of(job, "submitted_at").value_or(span_.since);
        const Timestamp arrival = std::max(submitted, span_.since);
        Json line = {{"name", text_of(job, "id")},           {"arrival_s", Seconds(arrival - span_.begins).count()},
                     {"job_type", text_of(job, "type")},     {"project", text_of(job, "project")},
                     {"user", text_of(job, "submitted_by")}, {"work_s", work.work_s}};
        add_units(job, work, line);
        add_wishes(spec, arrival, line);
        const Json& data = member(spec, "data");
        if (const double bytes = input_bytes(data); bytes > 0) line["data_in_bytes"] = bytes;
        if (const double bytes = number_of(data, "out_bytes").value_or(0); bytes > 0) line["data_out_bytes"] = bytes;
        return line;
    }

    void add_units(const Json& job, const Work& work, Json& line) const
    {
        const Json& attempt = member(job, "attempt");
        UnitRange range = range_of(job, largest_);
        // Without curves the work of a job is that on the count that it had.
        if (!work.held_at.empty() || (!type_of(job).is_scaled() && attempt.is_object()))
            range.least = range.most = integer_of(attempt, "unit_count", range.least);
        line["unit_count"] = range.least;
        if (range.most > range.least && type_of(job).is_scaled()) line["max_units"] = range.most;
        const Json unit_types = work.held_at.empty() ? wanted_unit_types(job, unit_types_) : Json{work.held_at};
        if (!unit_types.empty()) line["unit_types"] = unit_types;
    }

    void add_wishes(const Json& spec, Timestamp arrival, Json& line) const
    {
        if (const std::int64_t priority = integer_of(spec, "priority", 0); priority != 0) line["priority"] = priority;
        if (const Json& prefer = member(spec, "prefer"); !prefer.is_null() && prefer != "fastest")
            line["prefer"] = prefer;
        const std::optional<Timestamp> deadline = time_of(spec, "deadline");
        if (deadline && *deadline > arrival) line["deadline_in_s"] = Seconds(*deadline - arrival).count();
        const std::optional<std::int64_t> budget = parse_amount(text_of(member(spec, "budget"), "amount"));
        if (budget) line["budget"] = Money{*budget, ""}.amount();
        const std::int64_t limit_s = integer_of(spec, "wall_limit_s", kUsualLimitS);
        if (limit_s != kUsualLimitS) line["estimate_s"] = limit_s;
    }

    NetworkSource& source_;
    const Json& unit_types_;
    const std::map<std::string, ExportedType>& types_;
    const ExportSpan& span_;
    std::int64_t largest_;
    std::map<std::string, std::optional<ExpectedRun>> expected_; ///< by what is asked
    ExportedJobs exported_;
};

} // namespace

Result<ReadJobs> read_jobs(NetworkSource& source, const ExportSpan& span)
{
    const std::size_t most = span.max_jobs.value_or(std::numeric_limits<std::size_t>::max());
    std::map<std::pair<Timestamp, std::string>, Json> jobs;
    const auto keep = [&](const Json& job) {
        const std::optional<Timestamp> submitted = time_of(job, "submitted_at");
        if (submitted) jobs.insert_or_assign({*submitted, text_of(job, "id")}, without_content(job));
        return submitted && *submitted >= span.since;
    };
    const Result<void> recent = read_job_pages(source, "", [&](const Json& page) {
        bool is_recent = true;
        for (const Json& job : page)
            is_recent = keep(job) && is_recent; // newest first
        return is_recent && jobs.size() <= most;
    });
    if (!recent) return recent.error();
    // What is older and not done yet.
    for (const char* state : {"queued", "metering", "placed", "dispatched", "running", "lost"}) {
        std::size_t count = 0;
        const Result<void> done = read_job_pages(source, state, [&](const Json& page) {
            for (const Json& job : page)
                keep(job);
            count += page.size();
            return count <= most;
        });
        if (!done) return done.error();
    }
    std::vector<Json> sorted;
    for (auto& [key, job] : jobs) {
        if (key.first >= span.since || !has_ended(job)) sorted.push_back(std::move(job));
    }
    const std::size_t cut = sorted.size() - std::min(sorted.size(), most);
    sorted.erase(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(cut));
    return ReadJobs{.jobs = Json(std::move(sorted)), .is_cut = cut > 0};
}

std::map<std::string, ExportedType> types_of(const Json& jobs, const Json& unit_types)
{
    const std::int64_t largest = largest_unit_type(unit_types);
    std::map<std::string, ExportedType> types;
    for (const Json& job : jobs) {
        ExportedType& type = types[text_of(job, "type")];
        type.sample = job;
        const UnitRange range = range_of(job, largest);
        type.counts.merge(counts_between(range.least, range.most));
        const Json& attempt = member(job, "attempt");
        if (attempt.is_object()) type.counts.insert(integer_of(attempt, "unit_count", range.least));
    }
    return types;
}

Result<ExportedJobs> export_jobs(NetworkSource& source, const Json& jobs, const Json& unit_types,
                                 const std::map<std::string, ExportedType>& types, const ExportSpan& span)
{
    JobExporter exporter(source, unit_types, types, span);
    for (const Json& job : jobs) {
        if (const Result<void> added = exporter.add(job); !added) return added.error();
    }
    return exporter.take();
}

} // namespace fathom::simulation
