#include "server/routing/cycle_service.hpp"

#include "core/decide/routing/decision_json.hpp"
#include "core/schedule/joint_trial.hpp"
#include "server/routing/cycle_recorder.hpp"
#include "server/routing/deflated.hpp"

#include <pqxx/pqxx>

#include <algorithm>
#include <chrono>

namespace fathom::server {
namespace {

/// For what would have changed a decision: each try decides the whole cycle.
constexpr std::chrono::seconds kMaxSearch{3};

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
            {"bytes", cycle.bytes}};
}

Result<LoadedCycle> load_cycle(pqxx::work& transaction, const CycleId& id)
{
    std::optional<StoredCycle> cycle = select_cycle(transaction, id);
    if (!cycle) return Error{Errc::kNotFound, "there is no such cycle: it was never kept, or its time is over"};
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

asio::awaitable<Result<Page<StoredCycle>>> CycleService::list(std::string after, std::int64_t limit)
{
    auto read = [&](pqxx::work& transaction) -> Result<std::vector<StoredCycle>> {
        return select_cycles(transaction, after, limit + 1);
    };
    Result<std::vector<StoredCycle>> cycles = co_await database_->run(std::move(read));
    if (!cycles) co_return cycles.error();
    co_return cut_page(std::move(*cycles), limit, [](const StoredCycle& cycle) { return cycle.id; });
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
