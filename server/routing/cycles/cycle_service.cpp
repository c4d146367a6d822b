#include "server/routing/cycles/cycle_service.hpp"

#include "core/base/parse_number.hpp"
#include "core/decide/routing/decision_json.hpp"
#include "core/schedule/joint_trial.hpp"
#include "server/routing/cycles/cycle_recorder.hpp"
#include "server/routing/cycles/deflated.hpp"

#include <pqxx/pqxx>

#include <algorithm>
#include <chrono>
#include <map>

namespace fathom::server {
namespace {

/// For what would have changed a decision: each try decides the whole cycle.
constexpr std::chrono::seconds kMaxSearch{3};

Error no_such_cycle()
{
    return {Errc::kNotFound, "there is no such cycle: it was never kept, or its time is over"};
}

/// The jobs behind the one of this number, and one more than the page has.
Result<std::vector<CycleJob>> jobs_behind(const StoredCycle& cycle, std::size_t number, std::size_t most)
{
    Result<std::vector<CycleJob>> jobs = read_cycle_jobs(cycle);
    if (!jobs) return jobs;
    const std::size_t begin = std::min(number, jobs->size());
    const std::size_t end = begin + std::min(most, jobs->size() - begin);
    const auto first = jobs->begin();
    return std::vector<CycleJob>(first + static_cast<std::ptrdiff_t>(begin), first + static_cast<std::ptrdiff_t>(end));
}

void name_places(pqxx::work& transaction, std::vector<CycleJob>& jobs)
{
    std::vector<std::string> ids;
    for (const CycleJob& job : jobs) {
        if (!job.unit_type_id.empty()) ids.push_back(job.unit_type_id);
    }
    const std::map<std::string, PlaceName> names = select_place_names(transaction, ids);
    for (CycleJob& job : jobs) {
        const auto name = names.find(job.unit_type_id);
        if (name == names.end()) continue;
        job.center = name->second.center;
        job.unit_type = name->second.unit_type;
    }
}

Result<Json> answer(const LoadedCycle& loaded, const CycleService::Question& question)
{
    const Result<CycleReplay> replay = replay_loaded(loaded);
    if (!replay) return replay.error();
    Json json = {{"cycle", to_json(loaded.cycle)},          {"is_same", replay->differences.empty()},
                 {"differences", replay->differences},      {"start_count", replay->plan.starts.size()},
                 {"wait_count", replay->plan.waits.size()}, {"job", nullptr}};
    if (question.job.empty()) return json;
    std::optional<Json> job = explain_in_cycle(*replay, question.job, loaded.cycle.currency);
    if (!job) return Error{Errc::kNotFound, "the job was not among those that this cycle decided on"};
    (*job)["decision"]["counterfactuals"] = to_json(counterfactuals_in(*replay, question.job, loaded.cycle.currency));
    json["job"] = std::move(*job);
    return json;
}

} // namespace

Result<CycleReplay> replay_loaded(const LoadedCycle& loaded)
{
    const Result<std::string> input = inflated(loaded.cycle.input);
    if (!input) return input.error();
    const Result<std::string> plan = inflated(loaded.cycle.plan);
    if (!plan) return plan.error();
    std::vector<std::string> parts;
    for (const std::string& body : loaded.parts) {
        Result<std::string> part = inflated(body);
        if (!part) return part.error();
        parts.push_back(std::move(*part));
    }
    Result<CycleReplay> replay = replay_cycle(*input, parts, *plan);
    // Another version wrote it: nothing that the caller could mend.
    if (!replay && replay.error().code == Errc::kInvalid) return Error{Errc::kConflict, replay.error().detail};
    return replay;
}

std::vector<Counterfactual> counterfactuals_in(const CycleReplay& replay, std::string_view job,
                                               std::string_view currency)
{
    const std::vector<ReadyJob>& jobs = replay.moment.input.jobs;
    const auto found = std::find_if(jobs.begin(), jobs.end(), [&](const ReadyJob& one) { return one.id == job; });
    if (found == jobs.end()) return {};
    const auto end = std::chrono::steady_clock::now() + kMaxSearch;
    return joint_counterfactuals(replay, static_cast<std::size_t>(found - jobs.begin()), currency,
                                 [end] { return std::chrono::steady_clock::now() > end; });
}

Json to_json(const StoredCycle& cycle)
{
    return {{"id", cycle.id},
            {"decided_at", format_rfc3339(cycle.decided_at)},
            {"decided_by", cycle.decided_by},
            {"job_count", cycle.job_count},
            {"start_count", cycle.start_count},
            {"decision_s", cycle.decision_s ? Json(*cycle.decision_s) : Json()},
            {"bytes", cycle.bytes}};
}

Result<LoadedCycle> load_cycle(pqxx::work& transaction, const CycleId& id)
{
    std::optional<StoredCycle> cycle = select_cycle(transaction, id);
    if (!cycle) return no_such_cycle();
    const Error gone{Errc::kNotFound, "what the cycle was decided on is no longer kept"};
    const std::string root = select_parts(transaction, {cycle->catalog}).front();
    if (root.empty()) return gone;
    const Result<std::string> list = inflated(root);
    if (!list) return list.error();
    LoadedCycle loaded{std::move(*cycle), select_parts(transaction, listed_hashes(*list))};
    for (const std::string& part : loaded.parts) {
        if (part.empty()) return gone;
    }
    return loaded;
}

asio::awaitable<Result<Page<StoredCycle>>> CycleService::list(TimeRange within, std::string after, std::int64_t limit)
{
    auto read = [&](pqxx::work& transaction) -> Result<std::vector<StoredCycle>> {
        return select_cycles(transaction, within, after, limit + 1);
    };
    Result<std::vector<StoredCycle>> cycles = co_await database_->run(std::move(read));
    if (!cycles) co_return cycles.error();
    co_return cut_page(std::move(*cycles), limit, [](const StoredCycle& cycle) { return cycle.id; });
}

asio::awaitable<Result<StoredCycle>> CycleService::get(CycleId id)
{
    auto read = [&](pqxx::work& transaction) -> Result<StoredCycle> {
        std::optional<StoredCycle> cycle = select_cycle_head(transaction, id);
        if (!cycle) return no_such_cycle();
        return std::move(*cycle);
    };
    co_return co_await database_->run(std::move(read));
}

asio::awaitable<Result<Page<CycleJob>>> CycleService::list_jobs(CycleId id, std::string asker, std::string after,
                                                                std::int64_t limit)
{
    const std::optional<std::size_t> number = after.empty() ? std::size_t{0} : parse_number<std::size_t>(after);
    if (!number) co_return Error{Errc::kInvalid, "the page_token is not one of this list"};
    auto read = [&](pqxx::work& transaction) -> Result<StoredCycle> {
        std::optional<StoredCycle> cycle = select_cycle(transaction, id);
        if (!cycle) return no_such_cycle();
        return std::move(*cycle);
    };
    const Result<StoredCycle> cycle = co_await database_->run(std::move(read));
    if (!cycle) co_return cycle.error();
    auto decode = [&]() { return jobs_behind(*cycle, *number, static_cast<std::size_t>(limit) + 1); };
    Result<std::vector<CycleJob>> jobs = co_await compute_->run(asker, std::move(decode));
    if (!jobs) co_return jobs.error();
    auto name = [&](pqxx::work& transaction) -> Result<void> {
        name_places(transaction, *jobs);
        return {};
    };
    const Result<void> named = co_await database_->run(std::move(name));
    if (!named) co_return named.error();
    co_return cut_page(std::move(*jobs), limit, [](const CycleJob& job) { return std::to_string(job.number); });
}

asio::awaitable<Result<Json>> CycleService::replay(Question question)
{
    auto read = [&](pqxx::work& transaction) { return load_cycle(transaction, question.cycle); };
    const Result<LoadedCycle> loaded = co_await database_->run(std::move(read));
    if (!loaded) co_return loaded.error();
    auto decide = [&]() -> Result<Json> { return answer(*loaded, question); };
    co_return co_await compute_->run(question.asker, std::move(decide));
}

} // namespace fathom::server
