#include "agent/executor/slurm/rest_answers.hpp"

#include "core/base/json_reader.hpp"
#include "core/base/json_view.hpp"

#include <algorithm>
#include <array>
#include <chrono>

namespace fathom::agent {
namespace {

constexpr std::size_t kMaxParsedBytes = 128UL << 20U;
constexpr std::size_t kMaxListedJobs = 1'000'000;
constexpr std::int64_t kMaxEpoch_s = 1LL << 40U;
constexpr std::int64_t kMaxSlurmNumber = UINT32_MAX;
constexpr std::int64_t kMaxStepBytes = 1LL << 50U;
constexpr std::int64_t kMaxStepEnergy_j = 1LL << 50U;

// slurm_errno's numbers.
constexpr std::int64_t kInvalidJobId = 2017;
constexpr std::int64_t kAlreadyDone = 2021;
constexpr std::int64_t kNothingFound = 9003;
constexpr std::int64_t kParsingFailed = 9001;
constexpr std::array<std::int64_t, 4> kUnbelieved{-1, 1007, 5005, 5008};

/// One of the answer's `errors`.
struct SlurmError {
    std::int64_t number{};
    std::string text;
};

/// The first that has a number; number 0: none. slurmrestd calls it `error_number` or `error_code`.
SlurmError error_in(const Json& json)
{
    SlurmError found;
    for (const Json& error : json_view::items_of(json, "errors")) {
        const auto number = json_view::number_of(error, "error_number");
        const auto code = number ? number : json_view::number_of(error, "error_code");
        const std::string words = json_view::text_of(error, "error", "");
        const std::string description = json_view::text_of(error, "description", "");
        for (const std::string& part : {words, description}) {
            if (part.empty() || found.text.find(part) != std::string::npos) continue;
            found.text += (found.text.empty() ? "" : ": ") + part;
        }
        if (code && found.number == 0 && *code >= -1 && *code <= static_cast<double>(kMaxSlurmNumber))
            found.number = static_cast<std::int64_t>(*code);
    }
    found.text = slurm_reason(found.text);
    return found;
}

Result<Json> parse_body(const RestAnswer& answer)
{
    Result<Json> json = parse_json(answer.body, {.max_bytes = kMaxParsedBytes, .max_depth = 32});
    if (!json) return Error{Errc::kUnavailable, "slurmrestd's answer cannot be read: " + json.error().detail};
    if (!json->is_object()) return Error{Errc::kUnavailable, "slurmrestd's answer is no JSON object"};
    return json;
}

Error not_as_specified(const std::vector<FieldError>& errors)
{
    const std::string first = errors.empty() ? "" : errors.front().field + " " + errors.front().detail;
    return {Errc::kUnavailable, "slurmrestd's answer is not one of v0.0.38: " + first};
}

Error refusal_of(const RestAnswer& answer, const SlurmError& error, const std::string& what)
{
    const std::string detail = "cannot " + what + " by slurmrestd: ";
    if (answer.status == 401)
        return {Errc::kUnavailable, detail + "it refuses the token or its user (401); look at slurm_token_file, and "
                                             "that slurmrestd runs with -a rest_auth/jwt and SLURM_JWT=daemon"};
    if (answer.status == 404)
        return {Errc::kInfeasible, detail + "it has no v0.0.38 of that (404); Slurm 22.05 and 23.02 have it"};
    const std::string words = error.text.empty() ? "HTTP status " + std::to_string(answer.status) : error.text;
    if (error.number == kInvalidJobId || error.number == kAlreadyDone) return {Errc::kNotFound, detail + words};
    if (answer.status == 400 || error.number == kParsingFailed) return {Errc::kInvalid, detail + words};
    if (std::find(kUnbelieved.begin(), kUnbelieved.end(), error.number) != kUnbelieved.end())
        return {Errc::kUnavailable, detail + words +
                                        "; it does not reach Slurm, or Slurm does not believe the token in "
                                        "slurm_token_file, or not for this user"};
    if (error.number == 0 || is_unreached(error.text)) return {Errc::kUnavailable, detail + words};
    return {is_final_refusal(error.text) ? Errc::kInvalid : Errc::kTooMany, words};
}

/// Since 1970; 0 is none.
std::optional<Timestamp> read_epoch(ObjectReader& reader, const char* name)
{
    const std::int64_t time_s = reader.optional_integer(name, 0, kMaxEpoch_s).value_or(0);
    if (time_s == 0) return std::nullopt;
    return Timestamp(std::chrono::seconds(time_s));
}

/// As squeue counts it, without time in which the job was suspended.
std::int64_t used_s(const SlurmJob& job, std::optional<Timestamp> changed, std::int64_t before_s, Timestamp now)
{
    if (job.state == "PENDING" || !job.start) return 0;
    if (job.state == "SUSPENDED") return before_s;
    const bool has_ended = job.state != "RUNNING" && job.end;
    const Timestamp until = has_ended ? *job.end : now;
    const Timestamp since = changed.value_or(*job.start);
    const std::int64_t run_s = std::chrono::duration_cast<std::chrono::seconds>(until - since).count();
    return std::max<std::int64_t>(run_s, 0) + (changed ? before_s : 0);
}

SlurmJob read_job(const Json& json, const std::string& path, unsigned uid, Timestamp now,
                  std::vector<FieldError>& errors)
{
    ObjectReader reader(json, path, errors);
    SlurmJob job;
    job.id = std::to_string(reader.required_integer("job_id", 1, kMaxSlurmNumber));
    job.name = reader.required_string("name", {});
    job.state = reader.required_string("job_state", {.min_length = 1, .max_length = 64});
    job.wait_status = reader.required_integer("exit_code", 0, kMaxSlurmNumber);
    job.uid = uid;
    job.start = read_epoch(reader, "start_time");
    job.end = read_epoch(reader, "end_time");
    job.nodes = reader.optional_string("nodes", {.max_length = 1UL << 20U}).value_or("");
    job.reason = reader.required_string("state_reason", {.max_length = 256});
    job.is_requeued = reader.optional_boolean("requeue").value_or(false);
    const std::optional<Timestamp> changed = read_epoch(reader, "suspend_time");
    const std::int64_t before_s = reader.optional_integer("pre_sus_time", 0, kMaxEpoch_s).value_or(0);
    job.used_s = used_s(job, changed, before_s, now);
    return job;
}

/// As wait() has it; empty: not told.
std::optional<std::int64_t> read_status(const Json& json, const std::string& path, std::vector<FieldError>& errors)
{
    ObjectReader reader(json, path, errors);
    reader.required_string("status", {.max_length = 64});
    const auto code = reader.optional_integer("return_code", 0, kMaxSlurmNumber);
    const Json* const told = reader.has("signal") ? reader.object("signal") : nullptr;
    if (told == nullptr) return code ? std::optional((*code & 0xFF) * 256) : std::nullopt;
    ObjectReader signal(*told, reader.path_of("signal"), errors);
    return signal.required_integer("signal_id", 0, 127);
}

/// Of the items of one type; 0: there is none.
std::int64_t read_count(const Json& items, const char* type, std::int64_t most)
{
    for (const Json& item : items) {
        const auto count = json_view::number_of(item, "count");
        if (json_view::text_of(item, "type", "") != type || !count) continue;
        return *count > 0 && *count < static_cast<double>(most) ? static_cast<std::int64_t>(*count) : 0;
    }
    return 0;
}

/// What a step used. Where Slurm gathers nothing, it says so by zeros or nulls.
void add_step(SlurmJob& job, const Json& step)
{
    const Json& total = json_view::member(json_view::member(step, "time"), "total");
    const double whole_s = json_view::number_of(total, "seconds").value_or(0);
    const double part_us = json_view::number_of(total, "microseconds").value_or(0);
    job.cpu_s += std::clamp<double>(whole_s + part_us / 1e6, 0, static_cast<double>(kMaxEpoch_s));
    const Json& gathered = json_view::member(json_view::member(step, "tres"), "requested");
    job.peak_memory_bytes =
        std::max(job.peak_memory_bytes, read_count(json_view::items_of(gathered, "total"), "mem", kMaxStepBytes));
    const Json& energy = json_view::member(json_view::member(step, "statistics"), "energy");
    const double taken_j = json_view::number_of(energy, "consumed").value_or(0);
    if (taken_j > 0 && taken_j < static_cast<double>(kMaxStepEnergy_j))
        job.energy_j = std::max(job.energy_j, static_cast<std::int64_t>(taken_j));
}

SlurmJob read_account(const Json& json, const std::string& path, unsigned uid, std::vector<FieldError>& errors)
{
    ObjectReader reader(json, path, errors);
    SlurmJob job;
    job.id = std::to_string(reader.required_integer("job_id", 1, kMaxSlurmNumber));
    job.name = reader.required_string("name", {});
    job.uid = uid;
    job.nodes = reader.optional_string("nodes", {.max_length = 1UL << 20U}).value_or("");
    if (job.nodes == "None assigned") job.nodes.clear();
    if (const Json* state = reader.object("state"); state != nullptr)
        job.state = ObjectReader(*state, reader.path_of("state"), errors)
                        .required_string("current", {.min_length = 1, .max_length = 64});
    if (const Json* time = reader.object("time"); time != nullptr) {
        ObjectReader times(*time, reader.path_of("time"), errors);
        job.start = read_epoch(times, "start");
        job.end = read_epoch(times, "end");
    }
    std::optional<std::int64_t> status;
    if (const Json* code = reader.object("exit_code"); code != nullptr)
        status = read_status(*code, reader.path_of("exit_code"), errors);
    job.wait_status = status.value_or(0);
    job.knows_status = job.state != "FAILED" || job.wait_status != 0 || job.nodes.empty();
    for (const Json& step : json_view::items_of(json, "steps"))
        add_step(job, step);
    return job;
}

} // namespace

Error rest_refusal(const RestAnswer& answer, const std::string& what)
{
    const Result<Json> json = parse_json(answer.body);
    return refusal_of(answer, json ? error_in(*json) : SlurmError(), what);
}

Result<std::string> parse_rest_submitted(const RestAnswer& answer)
{
    if (answer.status != 200) {
        Error refused = rest_refusal(answer, "submit a job");
        if (refused.code == Errc::kNotFound || refused.code == Errc::kInfeasible) refused.code = Errc::kUnavailable;
        return refused;
    }
    const Result<Json> json = parse_body(answer);
    if (!json) return json.error();
    // A number may come with errors, which are then why the job has to wait.
    std::vector<FieldError> errors;
    ObjectReader reader(*json, "", errors);
    const std::int64_t number = reader.required_integer("job_id", 1, kMaxSlurmNumber);
    if (errors.empty()) return std::to_string(number);
    return error_in(*json).number != 0 ? refusal_of(answer, error_in(*json), "submit a job") : not_as_specified(errors);
}

Result<std::vector<SlurmJob>> parse_rest_queue(const RestAnswer& answer, const std::set<unsigned>& users, Timestamp now)
{
    if (answer.status != 200) return Error{Errc::kUnavailable, rest_refusal(answer, "ask for jobs").detail};
    const Result<Json> json = parse_body(answer);
    if (!json) return json.error();
    if (error_in(*json).number != 0)
        return Error{Errc::kUnavailable, refusal_of(answer, error_in(*json), "ask for jobs").detail};
    std::vector<FieldError> errors;
    ObjectReader reader(*json, "", errors);
    const Json* const items = reader.array("jobs", 0, kMaxListedJobs);
    if (items == nullptr && errors.empty()) errors.push_back({"jobs", "is missing"});
    std::vector<SlurmJob> jobs;
    for (std::size_t i = 0; items != nullptr && i < items->size() && errors.empty(); ++i) {
        const std::string path = "jobs[" + std::to_string(i) + "]";
        ObjectReader owner((*items)[i], path, errors);
        const auto uid = static_cast<unsigned>(owner.required_integer("user_id", 0, kMaxSlurmNumber));
        if (errors.empty() && users.contains(uid)) jobs.push_back(read_job((*items)[i], path, uid, now, errors));
    }
    if (!errors.empty()) return not_as_specified(errors);
    return jobs;
}

Result<std::vector<SlurmJob>>
parse_rest_accounts(const RestAnswer& answer, const std::function<std::optional<unsigned>(const std::string&)>& uid_of)
{
    constexpr const char* kWhat = "ask for accounts";
    if (answer.status != 200) {
        Error refused = rest_refusal(answer, kWhat);
        if (refused.code != Errc::kInfeasible) refused.code = Errc::kUnavailable;
        return refused;
    }
    const Result<Json> json = parse_body(answer);
    if (!json) return json.error();
    const SlurmError error = error_in(*json);
    if (error.number == kNothingFound) return std::vector<SlurmJob>();
    if (error.number != 0) return Error{Errc::kUnavailable, refusal_of(answer, error, kWhat).detail};
    std::vector<FieldError> errors;
    ObjectReader reader(*json, "", errors);
    const Json* const items = reader.array("jobs", 0, kMaxListedJobs);
    std::vector<SlurmJob> jobs;
    for (std::size_t i = 0; items != nullptr && i < items->size() && errors.empty(); ++i) {
        const std::string path = "jobs[" + std::to_string(i) + "]";
        ObjectReader owner((*items)[i], path, errors);
        const std::optional<unsigned> uid = uid_of(owner.required_string("user", {.max_length = 256}));
        if (errors.empty() && uid) jobs.push_back(read_account((*items)[i], path, *uid, errors));
    }
    if (!errors.empty()) return not_as_specified(errors);
    return jobs;
}

Result<void> parse_rest_cancelled(const RestAnswer& answer)
{
    const Result<Json> json = parse_json(answer.body);
    const SlurmError error = json ? error_in(*json) : SlurmError();
    if (answer.status == 200 && error.number == 0) return {};
    Error refused = refusal_of(answer, error, "end a job");
    if (refused.code == Errc::kNotFound) return {};
    return refused;
}

} // namespace fathom::agent
