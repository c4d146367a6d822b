#include "server/routing/placement_service.hpp"

#include "core/decide/explanation/counterfactual.hpp"
#include "core/decide/routing/decision_json.hpp"
#include "core/decide/routing/route_json.hpp"
#include "core/model/money.hpp"
#include "core/schedule/waiting_reason.hpp"
#include "server/catalog/job_operators.hpp"
#include "server/identity/job_scope.hpp"
#include "server/routing/batch/probe_hosts_store.hpp"
#include "server/routing/cycles/cycle_service.hpp"
#include "server/routing/in_use/attempts_in_use.hpp"
#include "server/routing/in_use/gpu_shares.hpp"
#include "server/routing/output_inputs.hpp"
#include "server/routing/project_use/project_uses.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

template <class T>
Json or_null(const std::optional<T>& value)
{
    return value ? Json(*value) : Json();
}

Json money_or_null(const std::optional<double>& amount, const std::string& currency)
{
    if (!amount || currency.empty()) return nullptr;
    return to_json(Money{to_micros(*amount), currency});
}

/// What came of the newest attempt, beside what was predicted for it.
Json actual_json(const PlacementRecord& record)
{
    if (!record.run_s) return nullptr;
    const bool is_predicted = record.predicted_run_s && *record.predicted_run_s > 0;
    const auto predicted = [&](const std::optional<double>& value) { return is_predicted ? or_null(value) : Json(); };
    Json is_within;
    if (is_predicted && record.low_s && record.high_s)
        is_within = *record.run_s >= *record.low_s && *record.run_s <= *record.high_s;
    return {{"run_s", *record.run_s},
            {"wait_s", or_null(record.wait_s)},
            {"predicted_run_s", predicted(record.predicted_run_s)},
            {"predicted_low_s", predicted(record.low_s)},
            {"predicted_high_s", predicted(record.high_s)},
            {"is_within_interval", std::move(is_within)},
            {"ratio", is_predicted ? Json(*record.run_s / *record.predicted_run_s) : Json()},
            {"start_wait_s", or_null(record.actual_wait_s)},
            {"predicted_start_wait_s", or_null(record.predicted_wait_s)},
            {"predicted_start_wait_low_s", or_null(record.wait_low_s)},
            {"predicted_start_wait_high_s", or_null(record.wait_high_s)},
            {"cost", money_or_null(record.actual_cost, record.currency)},
            {"predicted_cost", money_or_null(record.cost, record.currency)}};
}

Timestamp moment_after(Timestamp now, double seconds)
{
    constexpr double kMaxSeconds = 1e9;
    return now + std::chrono::duration_cast<Timestamp::duration>(Seconds(std::min(seconds, kMaxSeconds)));
}

/// When the winner would start; null without one.
Json expected_start_json(const RouteRequest& request, const Decision& decision)
{
    if (!decision.winner) return nullptr;
    const Candidate& winner = decision.candidates[*decision.winner];
    const Timestamp now = request.transfer.now;
    // A start that was chosen is not uncertain, as long as there are units by then.
    const double least_s = winner.plan.window ? winner.plan.start_s : 0;
    const auto at = [&](double seconds) { return format_rfc3339(moment_after(now, std::max(seconds, least_s))); };
    return {{"at", at(std::max(winner.start.wait_s, winner.plan.start_s))},
            {"low", at(winner.start.low_s)},
            {"high", at(std::max(winner.start.high_s, winner.plan.start_s))}};
}

/// The decision with what would change it, as JSON.
Json explained(const RouteRequest& request, Decision decision, const UnitTypeList& unit_types,
               const RouteKnowledge& knowledge, std::string_view currency)
{
    decision.counterfactuals = find_counterfactuals(request, decision, unit_types, knowledge, currency);
    return to_json(decision, currency);
}

Json place_id(const Decision& decision)
{
    return decision.winner ? Json(decision.candidates[*decision.winner].unit_type_id.value) : Json();
}

/// Whether it was made together with other jobs that wanted the same.
bool is_joint(const Json& stored)
{
    return stored.contains("rank_text") && stored["rank_text"].is_string() &&
           !stored["rank_text"].get<std::string>().empty();
}

/// What would have changed a stored decision, from what it rested on: of one that was made together with others all of
/// these are decided again. Where that cycle is no longer kept, nothing is said where the order of the jobs decided,
/// since a change of one place says nothing of that.
Json stored_counterfactuals(const PlacementRecord& record, const std::optional<LoadedCycle>& cycle, const Json& stored)
{
    if (cycle) {
        const Result<CycleReplay> replay = replay_loaded(*cycle);
        if (replay && replay->differences.empty())
            return to_json(counterfactuals_in(*replay, record.job_id.value, record.currency));
    }
    const Result<RouteInputs> inputs = parse_route_inputs(Json::parse(record.inputs));
    if (!inputs) return Json::array();
    const Decision again = route(inputs->request, inputs->unit_types, inputs->knowledge);
    const Json winner = stored["winner"].is_number_unsigned()
                            ? stored["candidates"].at(stored["winner"].get<std::size_t>())["unit_type_id"]
                            : Json();
    if (winner != place_id(again)) return Json::array();
    return explained(inputs->request, again, inputs->unit_types, inputs->knowledge, record.currency)["counterfactuals"];
}

/// What a waiting job is decided by, beside the catalog.
struct WaitingInputs {
    RouteRequest request;
    UnitsInUse in_use;
    ProbeHostsOfCenters probe_hosts; ///< of a probe
};

/// Whether another probe is at the host of its best place.
bool waits_for_host(const WaitingInputs& inputs, const Decision& decision)
{
    return decision.winner &&
           !ProbeHosts(inputs.probe_hosts).has_room(decision.candidates[*decision.winner].center_id, 0);
}

Json waiting_json(const PlacementRecord& record, const WaitingInputs& inputs, const Decision& decision,
                  std::string_view currency)
{
    const WaitingJobState state{.is_metering = record.state == "metering",
                                .waits_for_host = waits_for_host(inputs, decision),
                                .jobs_ahead = record.jobs_ahead,
                                .stored_reason = record.waiting_reason};
    Json reasons = Json::array();
    for (const WaitingCause& cause : list_waiting_causes(inputs.request, decision, state, currency))
        reasons.push_back({{"kind", cause.kind}, {"text", cause.text}});
    return {{"reasons", std::move(reasons)}, {"expected_start", expected_start_json(inputs.request, decision)}};
}

/// Of a job that waits: decided now, without being moved.
struct WaitingAnswer {
    Json decision;
    Json waiting;
    Json inputs;
};

Result<WaitingInputs> read_waiting(pqxx::work& transaction, const PlacementRecord& record,
                                   const CatalogSnapshot& catalog, Timestamp now)
{
    const Result<JobSpec> spec = parse_job_spec(Json::parse(record.spec));
    if (!spec) return Error{Errc::kInternal, describe(spec.error())};
    Result<RouteRequest> request = make_route_request(*spec, catalog, now);
    if (!request) return request.error();
    // As the router decides it.
    set_origin(*request, {record.job_type, record.submitted_by, record.takes_operators}, catalog);
    request->refused_by = record.refused_by;
    request->is_probe = record.label == "probe";
    if (request->is_probe)
        apply_rules(ProjectRules(), *request);
    else
        read_use(transaction, catalog, *request);
    UnitsInUse in_use = select_units_in_use(transaction, catalog);
    GpuShares(std::move(in_use.gpus), in_use.coming, catalog).set(*request);
    WaitingInputs inputs{std::move(*request), std::move(in_use), {}};
    if (inputs.request.is_probe) inputs.probe_hosts = select_probe_hosts(transaction, {inputs.request.units.center});
    return inputs;
}

WaitingAnswer answer_waiting(const PlacementRecord& record, const WaitingInputs& inputs, const CatalogSnapshot& catalog,
                             const RouteKnowledge& knowledge, Timestamp now)
{
    const std::string currency = catalog.prices.currency();
    const UnitLedger ledger(catalog.unit_types, knowledge,
                            {.calendar = &catalog.calendar,
                             .reserved = inputs.in_use.reservations,
                             .now = now,
                             .gpu_rooms = inputs.in_use.gpu_rooms});
    Decision decision = route(inputs.request, ledger.views(), knowledge);
    WaitingAnswer answer;
    answer.waiting = waiting_json(record, inputs, decision, currency);
    answer.inputs = route_inputs_json(inputs.request, ledger.views(), knowledge, decision);
    answer.decision = explained(inputs.request, std::move(decision), ledger.views(), knowledge, currency);
    return answer;
}

/// What the winner would cost; it goes with the run time, so its interval does. Null without one, or without prices.
Json expected_cost_json(const Decision& decision, const std::string& currency)
{
    if (!decision.winner || currency.empty()) return nullptr;
    const Candidate& winner = decision.candidates[*decision.winner];
    const RunPrediction& run = winner.prediction;
    const auto cost_of = [&](double run_s) {
        const double share = run.run_s > 0 ? run_s / run.run_s : 1;
        return to_json(Money{to_micros(winner.cost * share), currency});
    };
    return {{"cost", cost_of(run.run_s)}, {"low", cost_of(run.low_s)}, {"high", cost_of(run.high_s)}};
}

/// What S6 says of a job's steps, by center.
Json split_json(const Decision& decision, const std::vector<JobStep>& steps)
{
    Json splits = Json::array();
    for (const DeviceChoice& choice : decision.devices)
        splits.push_back(to_json(split_job(steps, choice), steps));
    return splits;
}

/// The preview's answer: the decision, and with a what-if the one that it leads to.
Json preview_json(const RouteRequest& request, const UnitLedger& ledger, const RouteKnowledge& knowledge,
                  const std::string& currency, const std::optional<WhatIf>& what_if, const std::vector<JobStep>& steps)
{
    Decision decision = route(request, ledger.views(), knowledge);
    Json answer;
    if (what_if) {
        RouteRequest changed = request;
        std::vector<UnitTypeView> unit_types(ledger.views().begin(), ledger.views().end());
        apply_what_if(*what_if, changed, unit_types);
        Decision other = route(changed, unit_types, knowledge);
        answer["changes_place"] = place_id(decision) != place_id(other);
        answer["what_if_decision"] = explained(changed, std::move(other), unit_types, knowledge, currency);
    }
    answer["expected_cost"] = expected_cost_json(decision, currency);
    if (!steps.empty()) answer["split"] = split_json(decision, steps);
    answer["decision"] = explained(request, std::move(decision), ledger.views(), knowledge, currency);
    return answer;
}

/// What is told of a job, as it was read.
struct Explained {
    PlacementRecord record;
    std::optional<WaitingInputs> waiting; ///< of one that waits
    std::optional<LoadedCycle> cycle;     ///< in which it was decided together with others, where that is kept
};

/// Between attempts (the last one was given back) a waiting job has an old decision: it waits for a new one.
bool is_waiting(const PlacementRecord& record)
{
    return record.state == "queued" || record.state == "metering";
}

std::optional<LoadedCycle> read_joint_cycle(pqxx::work& transaction, const PlacementRecord& record)
{
    const std::optional<CycleId> id = CycleId::parse(record.cycle);
    if (!id || record.decision.empty() || !is_joint(Json::parse(record.decision))) return std::nullopt;
    Result<LoadedCycle> cycle = load_cycle(transaction, *id);
    if (!cycle) return std::nullopt; // its time is over, or it has yet to be written
    return std::move(*cycle);
}

Json explanation_json(const PlacementService::Question& question, const Explained& found,
                      const CatalogSnapshot& catalog, const RouteKnowledge& knowledge, Timestamp now)
{
    const PlacementRecord& record = found.record;
    const bool has_attempt = record.attempt_id.has_value() && !found.waiting;
    Json answer = {{"job_id", question.job.value},
                   {"state", record.state},
                   {"attempt_id", has_attempt ? Json(*record.attempt_id) : Json()},
                   {"decided_at", has_attempt && record.decided_at ? Json(format_rfc3339(*record.decided_at)) : Json()},
                   {"decided_by", has_attempt ? Json(record.decided_by) : Json()},
                   {"cycle_id", has_attempt && !record.cycle.empty() ? Json(record.cycle) : Json()},
                   {"actual", has_attempt ? actual_json(record) : Json()},
                   {"waiting", nullptr}};
    Json inputs;
    if (found.waiting) {
        WaitingAnswer waiting = answer_waiting(record, *found.waiting, catalog, knowledge, now);
        answer["decision"] = std::move(waiting.decision);
        answer["waiting"] = std::move(waiting.waiting);
        inputs = std::move(waiting.inputs);
    } else {
        answer["decision"] = record.decision.empty() ? Json() : with_current_names(Json::parse(record.decision));
        if (!record.inputs.empty()) {
            inputs = Json::parse(record.inputs);
            answer["decision"]["counterfactuals"] = stored_counterfactuals(record, found.cycle, answer["decision"]);
        }
    }
    if (question.with_inputs) answer["inputs"] = std::move(inputs);
    return answer;
}

} // namespace

asio::awaitable<Result<Json>> PlacementService::explain(Question question)
{
    const CatalogPointer catalog = catalog_->get();
    const Timestamp now = clock_->now();
    auto read = [&](pqxx::work& transaction) -> Result<Explained> {
        std::optional<PlacementRecord> record = select_placement(transaction, question.job);
        if (!record || !job_scope_of(question.asker.principal).includes(record->submitted_by, record->project))
            return Error{Errc::kNotFound, "there is no such job"};
        record_job_look(transaction, question.asker, "job.read_placement",
                        {record->job_id.value, record->label, record->submitted_by, record->project});
        Explained explained{std::move(*record), std::nullopt, std::nullopt};
        if (!is_waiting(explained.record)) {
            explained.cycle = read_joint_cycle(transaction, explained.record);
            return explained;
        }
        Result<WaitingInputs> waiting = read_waiting(transaction, explained.record, *catalog, now);
        if (!waiting) return waiting.error();
        explained.waiting = std::move(*waiting);
        return explained;
    };
    const Result<Explained> found = co_await database_->run(std::move(read));
    if (!found) co_return found.error();
    const RouteKnowledge knowledge = catalog_->knowledge_for(*catalog);
    auto answer = [&]() -> Result<Json> { return explanation_json(question, *found, *catalog, knowledge, now); };
    co_return co_await compute_->run(question.asker.principal.token_id.value, std::move(answer));
}

asio::awaitable<Result<std::vector<FieldError>>> PlacementService::find_its_outputs(JobSpec& spec,
                                                                                    const JobReader& submitter)
{
    std::vector<FieldError> errors;
    if (!take_outputs({&spec, 1})) co_return errors;
    auto work = [&](pqxx::work& transaction) -> Result<FoundOutputs> {
        return find_outputs(transaction, {&spec, 1}, submitter);
    };
    Result<FoundOutputs> found = co_await database_->run(std::move(work));
    if (!found) co_return found.error();
    for (OutputProblem& problem : found->problems)
        errors.push_back(std::move(problem.error));
    co_return errors;
}

asio::awaitable<Result<Json>> PlacementService::preview(JobSpec spec, JobReader submitter,
                                                        std::optional<WhatIf> what_if, std::vector<JobStep> steps)
{
    const std::string owner = submitter.principal.token_id.value;
    Result<std::vector<FieldError>> unknown = co_await find_its_outputs(spec, submitter);
    if (!unknown) co_return unknown.error();
    Result<CatalogPointer> catalog = catalog_->get();
    std::vector<FieldError> errors;
    if (complete_operators(spec, **catalog, "", errors); !errors.empty()) {
        // The library may have grown since the snapshot was taken.
        catalog = co_await catalog_->refresh();
        if (!catalog) co_return catalog.error();
        errors.clear();
        complete_operators(spec, **catalog, "", errors);
    }
    const Timestamp now = clock_->now();
    check_terms(spec, **catalog, now, "", errors);
    const std::string currency = (*catalog)->prices.currency();
    if (what_if) check_what_if(*what_if, (*catalog)->unit_types, currency, now, "what_if", errors);
    errors.insert(errors.end(), unknown->begin(), unknown->end());
    if (const Result<void> right = no_errors(std::move(errors), "the question"); !right) co_return right.error();
    // As it will be at submission: history corrects by the type, which is that of the job without what it learned.
    const std::string job_type = (*catalog)->type_of(spec, owner).name;
    const bool takes_operators = !take_learned_operators(spec, owner, **catalog).empty();
    const CatalogPointer known = *catalog;
    Result<RouteRequest> request = make_route_request(spec, *known, now);
    if (!request) co_return request.error();
    auto read = [&](pqxx::work& transaction) -> Result<UnitsInUse> {
        read_use(transaction, *known, *request);
        return select_units_in_use(transaction, *known);
    };
    const Result<UnitsInUse> in_use = co_await database_->run(std::move(read));
    if (!in_use) co_return in_use.error();
    const RouteKnowledge knowledge = catalog_->knowledge_for(*known);
    auto answer = [&]() -> Result<Json> {
        set_origin(*request, {job_type, owner, takes_operators}, *known);
        GpuShares(in_use->gpus, in_use->coming, *known).set(*request);
        const UnitLedger ledger(known->unit_types, knowledge,
                                {.calendar = &known->calendar,
                                 .reserved = in_use->reservations,
                                 .now = now,
                                 .gpu_rooms = in_use->gpu_rooms});
        return preview_json(*request, ledger, knowledge, currency, what_if, steps);
    };
    co_return co_await compute_->run(owner, std::move(answer));
}

} // namespace fathom::server
