#include "server/metering/scores_service.hpp"

#include "server/metering/metering_service.hpp"
#include "server/store/transaction.hpp"

#include <algorithm>

namespace fathom::server {
namespace {

/// Of one comparison: its answer is one document.
constexpr std::int64_t kMaxCompared = 2000;

double factor_of(const TrustByUnitType& trust, const std::string& unit_type_id)
{
    const auto found = trust.find(unit_type_id);
    return found == trust.end() ? 1 : found->second.factor;
}

/// The library as decisions ask for it.
class LibraryView {
  public:
    explicit LibraryView(OperatorLibraryPointer library) : library_(std::move(library))
    {
        for (const OperatorLibrary::Version* version : library_->newest())
            in_use_.push_back(&version->manifest);
    }

    ManifestLookup lookup() const
    {
        return
            [library = library_](std::string_view id, std::int64_t version) { return library->manifest(id, version); };
    }
    const std::vector<const OperatorManifest*>& in_use() const { return in_use_; }
    std::set<std::string> categories() const
    {
        std::set<std::string> categories;
        for (const OperatorManifest* manifest : in_use_)
            categories.insert(manifest->category);
        return categories;
    }

  private:
    OperatorLibraryPointer library_;
    std::vector<const OperatorManifest*> in_use_;
};

/// The parts by which each name of a group is scored.
using PartsByName = std::map<std::string, std::vector<AggregatePart>>;

PartsByName parts_of_categories(pqxx::transaction_base& transaction, const MetricPolicy& policy,
                                const LibraryView& library, const std::string& name)
{
    const std::set<std::string> measured = select_measured_operators(transaction);
    PartsByName parts;
    for (const std::string& category : library.categories()) {
        if (name.empty() || name == category)
            parts[category] = parts_of_category(policy, category, library.in_use(), measured);
    }
    return parts;
}

PartsByName parts_of_job_types(pqxx::transaction_base& transaction, const LibraryView& library, const std::string& name,
                               std::int64_t size, const std::string& after)
{
    // Each job type gives at least one score, but for the one that the page before ended with.
    PartsByName parts;
    for (const auto& [job_type, mix] : select_mixes(transaction, name_to_go_on_with(after), name, size + 2))
        parts[job_type] = parts_of_mix(mix, library.lookup());
    return parts;
}

PartsByName parts_of_group(pqxx::transaction_base& transaction, ScoreGroup group, const std::string& name,
                           const MetricPolicy& policy, const LibraryView& library, std::int64_t size,
                           const std::string& after)
{
    switch (group) {
    case ScoreGroup::kJobType:
        return parts_of_job_types(transaction, library, name, size, after);
    case ScoreGroup::kCategory:
        return parts_of_categories(transaction, policy, library, name);
    case ScoreGroup::kUnitType:
        return {{"", parts_of_unit_type(policy, library.in_use(), select_measured_operators(transaction))}};
    }
    return {};
}

/// The measurements of one unit type among those of several; none when it has none.
std::span<const MeasuredOperator> find_own(const std::map<std::string, std::vector<MeasuredOperator>>& measured,
                                           const std::string& unit_type_id)
{
    const auto found = measured.find(unit_type_id);
    return found == measured.end() ? std::span<const MeasuredOperator>() : found->second;
}

std::vector<std::string> ids_of(const std::vector<NamedPlace>& places)
{
    std::vector<std::string> ids;
    for (const NamedPlace& one : places)
        ids.push_back(one.place.unit_type_id);
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    return ids;
}

std::vector<std::string> operators_of(const std::vector<MeasurementRecord>& records)
{
    std::set<std::string> operators;
    for (const MeasurementRecord& one : records)
        operators.insert(one.measured.operator_id);
    return {operators.begin(), operators.end()};
}

/// The points of a measurement by a policy, or why there are none.
void put_points(const MetricPolicy& policy, const MeasuredOperator& measured, std::optional<ScoreValue>& points,
                std::string& missing)
{
    const Result<ScoreValue> found = score(policy, measured);
    if (found)
        points = *found;
    else
        missing = found.error().detail;
}

OperatorScore score_record(const MetricPolicy& policy, MeasurementRecord record, const TrustByUnitType& trust,
                           std::int64_t diversity)
{
    OperatorScore scored;
    scored.trust_factor = factor_of(trust, record.unit_type_id);
    scored.diversity = diversity;
    put_points(policy, record.measured, scored.score, scored.missing);
    if (scored.score) scored.score = scaled(*scored.score, scored.trust_factor);
    scored.record = std::move(record);
    return scored;
}

ScorePoint score_point(const MetricPolicy& policy, MeasurementRecord record)
{
    ScorePoint point;
    if (record.void_reason.empty())
        put_points(policy, record.measured, point.score, point.missing);
    else
        point.missing = "the measurement was found to be false: " + record.void_reason;
    point.record = std::move(record);
    return point;
}

/// One side of a comparison.
void put_score(const Result<ScoreValue>& points, double factor, std::optional<double>& value, std::string& missing)
{
    if (points)
        value = points->value * factor;
    else
        missing = points.error().detail;
}

void put_score(const AggregateScore& aggregate, double factor, std::optional<double>& value, std::string& missing)
{
    if (aggregate.score)
        value = aggregate.score->value * factor;
    else
        missing = aggregate.missing;
}

void rank_all(PolicyTrial& trial)
{
    std::vector<ComparedScore*> places;
    for (PolicyTrial::Place& one : trial.unit_types)
        places.push_back(&one.scores);
    rank_scores(places);
    std::map<std::pair<std::string, std::string>, std::vector<ComparedScore*>> sizes;
    for (PolicyTrial::Operator& one : trial.operators)
        sizes[{one.operator_id, one.parameters_key}].push_back(&one.scores);
    for (const auto& [size, scores] : sizes)
        rank_scores(scores);
}

} // namespace

std::string_view to_string(ScoreGroup group)
{
    switch (group) {
    case ScoreGroup::kJobType:
        return "job_type";
    case ScoreGroup::kCategory:
        return "category";
    case ScoreGroup::kUnitType:
        return "unit_type";
    }
    return "";
}

asio::awaitable<Result<ScoresService::OperatorScores>>
ScoresService::by_operator(std::string policy, MeasurementFilter filter, std::int64_t size, std::string after)
{
    auto work = [&](pqxx::work& transaction) -> Result<OperatorScores> {
        Result<PolicyRecord> record = find_policy(transaction, policy);
        if (!record) return record.error();
        Result<Page<MeasurementRecord>> measurements = select_measurements(transaction, filter, size, after);
        if (!measurements) return measurements.error();
        const TrustByUnitType trust = trust_.get(transaction);
        const auto diversity = select_diversity(transaction, operators_of(measurements->items));
        OperatorScores scores{std::move(record->policy), {{}, std::move(measurements->next_after)}};
        for (MeasurementRecord& one : measurements->items) {
            const auto count = diversity.find(one.measured.operator_id);
            scores.page.items.push_back(
                score_record(scores.policy, std::move(one), trust, count == diversity.end() ? 0 : count->second));
        }
        return scores;
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<ScoresService::ScoreHistory>> ScoresService::history(std::string policy, HistoryFilter filter,
                                                                            std::int64_t size, std::string after)
{
    auto work = [&](pqxx::work& transaction) -> Result<ScoreHistory> {
        Result<PolicyRecord> record = find_policy(transaction, policy);
        if (!record) return record.error();
        const std::int64_t version =
            filter.version ? *filter.version : version_to_follow(transaction, filter.operator_id);
        Result<Page<MeasurementRecord>> measurements = select_history(transaction, filter, version, size, after);
        if (!measurements) return measurements.error();
        if (measurements->items.empty() && !has_unit_type(transaction, filter.unit_type))
            return Error{Errc::kNotFound, "there is no unit type " + filter.unit_type};
        ScoreHistory history{std::move(record->policy), {{}, std::move(measurements->next_after)}};
        for (MeasurementRecord& one : measurements->items)
            history.page.items.push_back(score_point(history.policy, std::move(one)));
        return history;
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<ScoresService::GroupedScores>> ScoresService::grouped(ScoreGroup group, std::string name,
                                                                             std::string policy,
                                                                             MeasurementFilter filter,
                                                                             std::int64_t size, std::string after)
{
    auto work = [&](pqxx::work& transaction) -> Result<GroupedScores> {
        Result<PolicyRecord> record = find_policy(transaction, policy);
        if (!record) return record.error();
        GroupedScores scores{std::move(record->policy), {}};
        const LibraryView library(operators_->library());
        PartsByName parts = parts_of_group(transaction, group, name, scores.policy, library, size, after);
        std::vector<std::string> names;
        for (const auto& [one, list] : parts)
            names.push_back(one);
        Result<Page<NamedPlace>> places = select_places(transaction, names, filter, size, after);
        if (!places) return places.error();
        const auto measured = select_unit_measurements(transaction, ids_of(places->items));
        const TrustByUnitType trust = trust_.get(transaction);
        for (const NamedPlace& one : places->items) {
            GroupedScore scored{group, one.name, one.place, {}, factor_of(trust, one.place.unit_type_id)};
            scored.aggregate = aggregate_score(scores.policy, parts[one.name],
                                               find_own(measured, one.place.unit_type_id), library.lookup());
            if (scored.aggregate.score) scored.aggregate.score = scaled(*scored.aggregate.score, scored.trust_factor);
            scores.page.items.push_back(std::move(scored));
        }
        scores.page.next_after = std::move(places->next_after);
        return scores;
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<PolicyTrial>> ScoresService::try_policy(std::string policy)
{
    auto work = [&](pqxx::work& transaction) -> Result<Trial> {
        Result<PolicyRecord> tried = find_policy(transaction, policy);
        if (!tried) return tried.error();
        Result<PolicyRecord> active = find_policy(transaction, "");
        if (!active) return active.error();
        return read_trial(transaction, std::move(tried->policy), std::move(active->policy));
    };
    Result<Trial> trial = co_await database_->run(std::move(work));
    if (!trial) co_return trial.error();
    co_return co_await judge(std::move(*trial));
}

asio::awaitable<Result<PolicyTrial>> ScoresService::try_document(MetricPolicy policy)
{
    auto work = [&](pqxx::work& transaction) -> Result<Trial> {
        Result<MetricPolicy> checked = check_new_policy(transaction, policy, *operators_->library());
        if (!checked) return checked.error();
        Result<PolicyRecord> active = find_policy(transaction, "");
        if (!active) return active.error();
        return read_trial(transaction, std::move(*checked), std::move(active->policy));
    };
    Result<Trial> trial = co_await database_->run(std::move(work));
    if (!trial) co_return trial.error();
    co_return co_await judge(std::move(*trial));
}

ScoresService::Trial ScoresService::read_trial(pqxx::transaction_base& transaction, MetricPolicy policy,
                                               MetricPolicy active)
{
    const std::vector<std::string> one_name{""};
    Page<NamedPlace> places = select_places(transaction, one_name, {}, kMaxCompared, "").value();
    auto measured = select_unit_measurements(transaction, ids_of(places.items));
    return {.policy = std::move(policy),
            .active = std::move(active),
            .measured_operators = select_measured_operators(transaction),
            .places = std::move(places.items),
            .measured = std::move(measured),
            .trust = trust_.get(transaction),
            .place_count = count_places(transaction, {})};
}

asio::awaitable<Result<PolicyTrial>> ScoresService::judge(Trial trial)
{
    // Thousands of scores: not on a connection that others wait for.
    auto work = [this, &trial]() -> Result<PolicyTrial> { return compare(std::move(trial)); };
    co_return co_await compute_->run(std::string(), std::move(work));
}

PolicyTrial ScoresService::compare(Trial asked) const
{
    const LibraryView library(operators_->library());
    const ManifestLookup manifests = library.lookup();
    const std::vector<AggregatePart> parts_before =
        parts_of_unit_type(asked.active, library.in_use(), asked.measured_operators);
    const std::vector<AggregatePart> parts_after =
        parts_of_unit_type(asked.policy, library.in_use(), asked.measured_operators);

    PolicyTrial trial{std::move(asked.policy), std::move(asked.active), {}, {}, asked.place_count};
    for (const NamedPlace& one : asked.places) {
        const double factor = factor_of(asked.trust, one.place.unit_type_id);
        const std::span<const MeasuredOperator> own = find_own(asked.measured, one.place.unit_type_id);
        ComparedScore whole;
        put_score(aggregate_score(trial.active, parts_before, own, manifests), factor, whole.before,
                  whole.missing_before);
        put_score(aggregate_score(trial.policy, parts_after, own, manifests), factor, whole.after, whole.missing_after);
        trial.unit_types.push_back({one.place, std::move(whole)});
        for (const MeasuredOperator& measurement : own) {
            ComparedScore scores;
            put_score(score(trial.active, measurement), factor, scores.before, scores.missing_before);
            put_score(score(trial.policy, measurement), factor, scores.after, scores.missing_after);
            trial.operators.push_back(
                {one.place, measurement.operator_id, measurement.parameters_key, std::move(scores)});
        }
    }
    rank_all(trial);
    return trial;
}

} // namespace fathom::server
