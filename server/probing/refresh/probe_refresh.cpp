#include "server/probing/refresh/probe_refresh.hpp"

#include "server/probing/tasks/full_benchmark_task.hpp"
#include "server/probing/tasks/probe_budget_store.hpp"
#include "server/probing/tasks/probe_naming.hpp"
#include "server/probing/tasks/run_queue.hpp"
#include "server/store/log_after_commit.hpp"
#include "server/store/notifier.hpp"
#include "server/store/savepoint.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace fathom::server {
namespace {

constexpr const char* kStale = "schedule";
constexpr const char* kChanged = "catalog_change";
constexpr const char* kDrifted = "drift";

/// Of a center's budget, in a day.
constexpr double kStaleShare = 1.0 / 30;
constexpr double kChangedShare = 0.25;
/// Types that make up little of the work are found stale when a job of theirs arrives.
constexpr std::int64_t kMaxJobTypes = 50;

/// How sure and how old the figures of some operators on a unit type are: the oldest and the widest of them.
struct Knowledge {
    bool is_complete{true}; ///< all of them were measured, since the last change
    Timestamp oldest{Timestamp::max()};
    double interval{};
};

using Figures = std::map<std::string, const FigureAge*>; // by figure_key()

std::string figure_key(const std::string& unit_type, const std::string& operator_id, const std::string& parameters_key)
{
    return unit_type + ' ' + operator_id + ' ' + parameters_key;
}

/// `ages` must outlive them.
Figures figures_of(const std::vector<FigureAge>& ages)
{
    Figures figures;
    for (const FigureAge& age : ages)
        figures[figure_key(age.unit_type_id, age.operator_id, age.parameters_key)] = &age;
    return figures;
}

void add_figure(Knowledge& knowledge, const Figures& figures, const std::string& unit_type, const OperatorUse& use,
                const std::optional<Timestamp>& changed_at)
{
    const auto found = figures.find(figure_key(unit_type, use.id, parameters_key(use.parameters)));
    if (found == figures.end() || (changed_at && found->second->measured_at < *changed_at)) {
        knowledge.is_complete = false;
        return;
    }
    knowledge.oldest = std::min(knowledge.oldest, found->second->measured_at);
    knowledge.interval = std::max(knowledge.interval, found->second->interval);
}

} // namespace

/// What a candidate stands for: an operator of a full benchmark, or a job type's task.
struct ProbeRefresh::Item {
    const UnitTypeOffer* offer{};
    std::optional<OperatorUse> benchmarked{};
    const TaskInUse* job_task{};
};

struct ProbeRefresh::Choices {
    std::vector<UnitTypeOffer> offers;
    std::vector<ProbeCandidate> candidates;
    std::vector<Item> items; ///< of each candidate
};

/// What is queued.
struct ProbeRefresh::Run {
    const UnitTypeOffer* offer{};
    ProbeTaskRecord task;
};

std::vector<TaskInUse> ProbeRefresh::tasks_in_use(pqxx::work& transaction) const
{
    std::vector<TaskInUse> tasks;
    for (const JobTypeUse& use : select_job_type_uses(transaction, kMaxJobTypes)) {
        if (use.job_type.empty()) continue;
        std::optional<ProbeTaskRecord> task = lock_released_task(transaction, use.job_type);
        if (task) tasks.push_back({std::move(*task), use.share});
    }
    return tasks;
}

std::map<std::string, double> ProbeRefresh::operator_shares(const std::vector<TaskInUse>& tasks)
{
    std::map<std::string, double> shares;
    for (const TaskInUse& one : tasks) {
        std::set<std::string> ids;
        for (const OperatorUse& use : one.task.document.operators)
            if (ids.insert(use.id).second) shares[use.id] += one.share;
    }
    return shares;
}

ProbeRefresh::Choices ProbeRefresh::look(pqxx::work& transaction, const Wish& wish,
                                         const std::vector<TaskInUse>& tasks) const
{
    const OperatorLibraryPointer library = operators_->library();
    const std::vector<FigureAge> ages = select_figure_ages(transaction, wish.center);
    const Figures figures = figures_of(ages);
    std::map<std::string, double> shares = operator_shares(tasks);
    const std::vector<std::string> served =
        select_served_unit_types(transaction, wish.center, wish.cause, wish.changed_at);
    const auto is_open = [&](const UnitTypeOffer& offer) {
        return offer.closed_reason.empty() && offer.unit_count > 0 &&
               (!wish.unit_type || offer.id == *wish.unit_type) &&
               std::find(served.begin(), served.end(), offer.id.value) == served.end();
    };
    Choices choices;
    choices.offers = unit_type_offers(transaction, wish.center);
    std::erase_if(choices.offers, [&](const UnitTypeOffer& offer) { return !is_open(offer); });
    const Timestamp now = clock_->now();
    const auto add = [&](const std::string& id, const Knowledge& knowledge, double use, double cost_s, Item item) {
        ProbeCandidate candidate{.id = id, .interval = knowledge.interval, .use = use, .cost_s = cost_s};
        if (knowledge.is_complete) candidate.age_s = std::max(0.0, Seconds(now - knowledge.oldest).count());
        choices.candidates.push_back(std::move(candidate));
        choices.items.push_back(std::move(item));
    };
    for (const UnitTypeOffer& offer : choices.offers) {
        const std::vector<OperatorUse> operators = full_benchmark_operators(*library, offer);
        for (const OperatorUse& use : operators) {
            Knowledge knowledge;
            add_figure(knowledge, figures, offer.id.value, use, wish.changed_at);
            const double cost_s = kFullBenchmarkCost_s / static_cast<double>(operators.size());
            add(offer.id.value + " " + use.id, knowledge, shares[use.id], cost_s,
                {.offer = &offer, .benchmarked = use});
        }
        for (const TaskInUse& one : tasks) {
            std::vector<std::string> ids;
            Knowledge knowledge;
            for (const OperatorUse& use : one.task.document.operators) {
                ids.push_back(use.id);
                add_figure(knowledge, figures, offer.id.value, use, wish.changed_at);
            }
            if (!offer.runs(ids)) continue;
            add(offer.id.value + " " + one.task.id.value, knowledge, one.share,
                one.task.pretest_s.value_or(one.task.document.limit_s), {.offer = &offer, .job_task = &one});
        }
    }
    return choices;
}

std::vector<ProbeRefresh::Run> ProbeRefresh::runs_of(pqxx::work& transaction, const Choices& choices,
                                                     const std::vector<std::size_t>& picks) const
{
    std::vector<Run> runs;
    std::map<const UnitTypeOffer*, std::set<std::string>> benchmarked; // operators of one unit type go into one run
    for (const std::size_t pick : picks) {
        const Item& item = choices.items[pick];
        if (item.job_task != nullptr)
            runs.push_back({item.offer, item.job_task->task});
        else
            benchmarked[item.offer].insert(item.benchmarked->id);
    }
    for (const auto& [offer, wanted] : benchmarked) {
        // In the library's order, so that a full benchmark is the same task as an expert's.
        std::vector<OperatorUse> operators = full_benchmark_operators(*operators_->library(), *offer);
        const std::set<std::string>& ids = wanted; // not every compiler captures a structured binding
        std::erase_if(operators, [&ids](const OperatorUse& use) { return !ids.contains(use.id); });
        NewProbeTask task;
        task.origin = "default";
        task.created_by = kOwnActor;
        task.state = ProbeTaskState::kReleased;
        task.document = full_benchmark_task(std::move(operators));
        runs.push_back({offer, find_or_insert_task(transaction, task).record});
    }
    return runs;
}

Result<bool> ProbeRefresh::queue(pqxx::work& transaction, const Choices& choices, const std::vector<std::size_t>& picks,
                                 const std::string& cause) const
{
    const std::vector<Run> runs = runs_of(transaction, choices, picks);
    bool has_room = true;
    for (const Run& run : runs) {
        const RunPlace place{.unit_type_id = run.offer->id,
                             .center_id = run.offer->center_id,
                             .unit_count = 1,
                             .selection = "catalog",
                             .cause = cause,
                             .created_by = kOwnActor};
        const Result<ProbeRunId> queued = queue_run(transaction, *writer_, run.task, place);
        if (queued) continue;
        if (queued.error().code != Errc::kInfeasible) return queued.error();
        has_room = false;
    }
    if (!runs.empty()) {
        log_after_commit(LogLevel::kInfo, "probes_refreshed",
                         {{"center", runs.front().offer->center}, {"cause", cause}, {"runs", runs.size()}});
        notify(transaction, "route", "");
    }
    return has_room;
}

Result<double> ProbeRefresh::allowance_s(pqxx::work& transaction, const CenterId& center, const std::string& cause,
                                         double share) const
{
    const Result<ProbeBudget> budget = lock_probe_budget(transaction, center);
    if (!budget) return budget.error();
    const double spent_s = select_spent_by_cause(transaction, center, cause);
    return std::min(left_s(*budget), limit_s(*budget) * share - spent_s);
}

Result<bool> ProbeRefresh::measure(pqxx::work& transaction, const Wish& wish, const std::vector<TaskInUse>& tasks) const
{
    const Choices choices = look(transaction, wish, tasks);
    if (choices.candidates.empty()) return true;
    const Result<double> allowed_s =
        allowance_s(transaction, wish.center, wish.cause, wish.changed_at ? kChangedShare : kStaleShare);
    if (!allowed_s) return allowed_s.error();
    const ProbePlanRule rule{.metering_period_s = Seconds(metering_period_).count()};
    const std::vector<std::size_t> picks = plan_probes(choices.candidates, rule, *allowed_s);
    const Result<bool> has_room = queue(transaction, choices, picks, wish.cause);
    if (!has_room) return has_room.error();
    const auto useful_count = std::count_if(choices.candidates.begin(), choices.candidates.end(),
                                            [&](const ProbeCandidate& one) { return value_of(one, rule) > 0; });
    return *has_room && static_cast<std::size_t>(useful_count) == picks.size();
}

Result<void> ProbeRefresh::refresh_center(pqxx::work& transaction, const CenterId& center,
                                          const std::vector<TaskInUse>& tasks) const
{
    const Result<bool> done = measure(transaction, {.center = center, .cause = kStale}, tasks);
    if (!done || !*done) return done ? Result<void>() : done.error();
    const Result<double> allowed_s = allowance_s(transaction, center, kStale, kStaleShare);
    if (!allowed_s) return allowed_s.error();
    return refresh_copies(transaction, *writer_, tasks,
                          {.center = center,
                           .cause = kStale,
                           .now = clock_->now(),
                           .metering_period_s = Seconds(metering_period_).count(),
                           .allowance_s = *allowed_s});
}

Result<void> ProbeRefresh::refresh(pqxx::work& transaction) const
{
    const std::vector<TaskInUse> tasks = tasks_in_use(transaction);
    for (const CenterId& center : select_open_centers(transaction)) {
        const Result<void> tried = try_part(transaction, "probe_refresh_failed", {"center_id", center.value},
                                            [&] { return refresh_center(transaction, center, tasks); });
        if (!tried) return tried;
    }
    return {};
}

Result<void> ProbeRefresh::serve_requests(pqxx::work& transaction) const
{
    const std::vector<ProbeRequest> requests = select_probe_requests(transaction);
    if (requests.empty()) return {};
    const std::vector<TaskInUse> tasks = tasks_in_use(transaction);
    for (const ProbeRequest& request : requests) {
        const Result<void> tried = try_part(transaction, "probe_request_failed", {"center", request.center},
                                            [&] { return serve(transaction, request, tasks); });
        if (!tried) return tried;
    }
    return {};
}

Result<void> ProbeRefresh::serve(pqxx::work& transaction, const ProbeRequest& request,
                                 const std::vector<TaskInUse>& tasks) const
{
    const Result<bool> done = measure(
        transaction, {.center = request.center_id, .cause = kChanged, .changed_at = request.requested_at}, tasks);
    if (!done) return done.error();
    if (!*done) return {};
    clear_probe_request(transaction, request);
    log_after_commit(LogLevel::kInfo, "probe_request_served", {{"center", request.center}, {"reason", request.reason}});
    return {};
}

Result<void> ProbeRefresh::serve_drift(pqxx::work& transaction) const
{
    const std::vector<DriftRequest> requests = select_drift_requests(transaction);
    if (requests.empty()) return {};
    const std::vector<TaskInUse> tasks = tasks_in_use(transaction);
    for (const DriftRequest& request : requests) {
        const Wish wish{.center = request.center_id,
                        .cause = kDrifted,
                        .changed_at = request.requested_at,
                        .unit_type = request.unit_type_id};
        const Result<void> tried = try_part(transaction, "drift_request_failed",
                                            {"unit_type_id", request.unit_type_id.value}, [&]() -> Result<void> {
                                                const Result<bool> done = measure(transaction, wish, tasks);
                                                return done ? Result<void>() : done.error();
                                            });
        if (!tried) return tried;
    }
    return {};
}

} // namespace fathom::server
