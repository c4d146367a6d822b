#include "server/job_types/job_work.hpp"

#include "server/catalog/job_operators.hpp"
#include "server/store/column.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace fathom::server {
namespace {

/// What a report shows of a list that nobody of us wrote.
constexpr std::size_t kMaxShown = 100;

/// One operator of a profile against the library; empty when it does not fit.
std::optional<OperatorUse> read_use(const Json& item, const CatalogSnapshot& catalog, std::vector<FieldError>& errors)
{
    JobSpec one;
    // Profiles tell more of an operator than a job has fields for, and may be of newer agents.
    one.operators.push_back(parse_operator_use(item, "", errors, UnknownFields::kIgnore));
    if (!errors.empty()) return std::nullopt;
    one.operators[0].version = 0;
    complete_operators(one, catalog, "", errors);
    if (!errors.empty()) return std::nullopt;
    return std::move(one.operators[0]);
}

/// A data flow of which a part is missing is none.
void drop_broken_flow(std::vector<OperatorUse>& operators)
{
    std::vector<FieldError> errors;
    check_data_flow(operators, "", errors);
    if (errors.empty()) return;
    for (OperatorUse& use : operators) {
        use.label.clear();
        use.inputs.clear();
    }
}

ObservedWork read_profile(const Json& profile, const CatalogSnapshot& catalog)
{
    ObservedWork work;
    work.source = "profile";
    const auto items = profile.find("operators");
    if (items == profile.end() || !items->is_array()) return work;
    for (const Json& item : *items) {
        std::vector<FieldError> errors;
        std::optional<OperatorUse> use = read_use(item, catalog, errors);
        if (use)
            work.operators.push_back(std::move(*use));
        else if (work.left_out.size() < kMaxShown)
            work.left_out.push_back(errors.front().field + ": " + errors.front().detail);
    }
    std::sort(work.operators.begin(), work.operators.end(), [](const OperatorUse& a, const OperatorUse& b) {
        if (a.share.value_or(0) != b.share.value_or(0)) return a.share.value_or(0) > b.share.value_or(0);
        return operator_key(a.id, a.parameters) < operator_key(b.id, b.parameters);
    });
    for (; work.operators.size() > kMaxNamedOperators; work.operators.pop_back()) {
        const std::optional<double>& share = work.operators.back().share;
        ++work.unlisted.count;
        work.unlisted.share =
            work.unlisted.share && share ? std::optional(*work.unlisted.share + *share) : std::nullopt;
    }
    drop_broken_flow(work.operators);
    return work;
}

/// A member of the profile, as the center wrote it; null when it is missing or of another kind.
Json profile_member(const Json& profile, const char* name, bool (Json::*is_kind)() const noexcept)
{
    const auto found = profile.is_object() ? profile.find(name) : profile.end();
    if (!profile.is_object() || found == profile.end() || !((*found).*is_kind)()) return nullptr;
    return *found;
}

Json unmatched_json(const JobEvidence& evidence)
{
    Json unmatched = profile_member(evidence.profile, "unmatched", &Json::is_array);
    if (!unmatched.is_array()) return Json::array();
    if (unmatched.size() > kMaxShown) unmatched.erase(unmatched.begin() + kMaxShown, unmatched.end());
    return unmatched;
}

/// Predicted against actual of an operator; null where that is not known. What stands for uncounted work has none.
Json outcome_json(const OperatorUse& use, const JobEvidence& evidence)
{
    if (!use.remainder.empty() || !evidence.outcomes.is_object()) return nullptr;
    const auto found = evidence.outcomes.find(use.id + " " + parameters_key(use.parameters));
    return found == evidence.outcomes.end() ? Json() : *found;
}

Json use_json(const OperatorUse& use, const JobEvidence& evidence, const CatalogSnapshot& catalog)
{
    Json json = to_json(use);
    json["share"] = use.share ? Json(*use.share) : Json();
    json["outcome"] = outcome_json(use, evidence);
    json["category"] = nullptr;
    json["size_class"] = nullptr;
    json["operations"] = nullptr;
    const OperatorVersion* found = catalog.find_operator(use.id, use.version);
    if (found == nullptr) return json;
    json["category"] = found->manifest.category;
    if (const SizeClass* size = size_class_of(found->manifest, use.parameters)) json["size_class"] = size->name;
    if (const Result<double> operations = evaluate_formula(found->manifest.operation_count, use.parameters))
        json["operations"] = *operations * static_cast<double>(use.count);
    return json;
}

/// The program's own loops, as the profiler reports them.
void limit_loops(Json& remainder)
{
    const auto code = remainder.find("code");
    if (code == remainder.end() || !code->is_object()) return;
    const auto loops = code->find("loops");
    if (loops == code->end() || !loops->is_array() || loops->size() <= kMaxShown) return;
    loops->erase(loops->begin() + kMaxShown, loops->end());
}

/// The shares that the profiler found outside operators, and those of operators that the list has no room for.
Json remainder_json(const JobEvidence& evidence, const ObservedWork& work)
{
    Json remainder = profile_member(evidence.profile, "remainder", &Json::is_object);
    if (remainder.is_object()) limit_loops(remainder);
    if (remainder.is_object() && work.unlisted.share.value_or(0) > 0) remainder["unlisted"] = *work.unlisted.share;
    return remainder;
}

/// What the operators of the list cover: the profiler counts those without room in it, too.
Json coverage_json(const JobEvidence& evidence, const ObservedWork& work)
{
    const Json coverage = profile_member(evidence.profile, "coverage", &Json::is_number);
    if (!coverage.is_number() || work.unlisted.count == 0) return coverage;
    return std::max(0.0, coverage.get<double>() - work.unlisted.share.value_or(0));
}

double number_in(const Json& json, const char* name, double least, double most, double otherwise)
{
    const auto found = json.is_object() ? json.find(name) : json.end();
    if (!json.is_object() || found == json.end() || !found->is_number()) return otherwise;
    const double number = found->get<double>();
    return number >= least && number <= most ? number : otherwise;
}

bool flag_in(const Json& json, const char* name)
{
    const auto found = json.find(name);
    return found != json.end() && found->is_boolean() && found->get<bool>();
}

/// One operator of a profile as a part of its run; the work is the library's formula's.
std::optional<OperatorDemand> read_part(const Json& item, const CatalogSnapshot& catalog)
{
    std::vector<FieldError> errors;
    const std::optional<OperatorUse> use = read_use(item, catalog, errors);
    if (!use || !use->share) return std::nullopt;
    const OperatorVersion* const found = catalog.find_operator(use->id, use->version);
    if (found == nullptr) return std::nullopt;
    const Result<double> operations = evaluate_formula(found->manifest.operation_count, use->parameters);
    const Result<double> bytes = evaluate_formula(found->manifest.byte_count, use->parameters);
    return OperatorDemand{.operator_id = use->id,
                          .parameters_key = parameters_key(use->parameters),
                          .count = use->count,
                          .operations = operations ? *operations : 0,
                          .bytes = bytes ? *bytes : 0,
                          .share = *use->share,
                          .is_serial = flag_in(item, "serial"),
                          .similarity =
                              number_in(item, item.contains("similarity") ? "similarity" : "likeness", 0, 1, 1),
                          .remainder = use->remainder};
}

/// A loop as it is kept with a type; null where it does not fit.
Json shown_loop(const Json& loop)
{
    constexpr std::size_t kMaxText = 256;
    std::vector<FieldError> errors;
    ObjectReader reader(loop, "loop", errors);
    const std::string file = reader.required_string("file", {.max_length = kMaxText});
    const std::int64_t offset = reader.required_integer("offset", 0, std::numeric_limits<std::int64_t>::max());
    const double share = reader.required_number("share", 0, 1);
    const std::optional<std::string> nearest = reader.optional_string("operator", {.max_length = kMaxText});
    const double similarity = reader.required_number(reader.name_or_former("similarity", "likeness"), 0, 1);
    reader.finish(UnknownFields::kIgnore);
    if (!errors.empty()) return nullptr;
    return {{"file", file},
            {"offset", offset},
            {"share", share},
            {"operator", nearest ? Json(*nearest) : Json()},
            {"similarity", similarity}};
}

} // namespace

Json shown_loops(const JobEvidence& evidence)
{
    if (!evidence.profile.is_object()) return nullptr;
    const Json remainder = profile_member(evidence.profile, "remainder", &Json::is_object);
    const Json code = profile_member(remainder, "code", &Json::is_object);
    const Json loops = profile_member(code, "loops", &Json::is_array);
    std::vector<Json> found;
    if (loops.is_array()) {
        for (const Json& loop : loops) {
            if (Json shown = shown_loop(loop); !shown.is_null()) found.push_back(std::move(shown));
        }
    }
    std::sort(found.begin(), found.end(), [](const Json& a, const Json& b) {
        const double first = a["share"].get<double>();
        const double second = b["share"].get<double>();
        return first != second ? first > second : a.dump() < b.dump();
    });
    constexpr std::size_t kMaxLoops = 20;
    if (found.size() > kMaxLoops) found.resize(kMaxLoops);
    return found;
}

std::optional<double> program_run_s(const Json& profile, double run_s)
{
    const double wall_s = number_in(profile, "wall_s", 0, run_s, 0);
    if (!(wall_s > 0)) return std::nullopt;
    return wall_s;
}

double profiled_thread_s(const Json& profile, double run_s)
{
    constexpr double kMaxThreadsCounted = 1e6;
    return number_in(profile, "thread_s", run_s, kMaxThreadsCounted * run_s, run_s);
}

std::optional<KeptRun> kept_run(const JobEvidence& evidence, const CatalogSnapshot& catalog)
{
    constexpr double kMaxDuration_s = 1e9;
    constexpr double kMaxThreads = 1e6;
    if (evidence.unit_count != 1 || evidence.unit_type_id.empty()) return std::nullopt;
    const std::optional<double> run_s = program_run_s(evidence.profile, kMaxDuration_s);
    const Json items = profile_member(evidence.profile, "operators", &Json::is_array);
    if (!run_s || !items.is_array()) return std::nullopt;
    KeptRun run{.unit_type_id = evidence.unit_type_id,
                .run_s = *run_s,
                .waiting_share =
                    number_in(profile_member(evidence.profile, "remainder", &Json::is_object), "waiting", 0, 1, 0),
                .parallelism = number_in(evidence.profile, "parallelism", 1, kMaxThreads, 1),
                .operators = {}};
    for (const Json& item : items) {
        if (std::optional<OperatorDemand> part = read_part(item, catalog)) run.operators.push_back(std::move(*part));
    }
    if (run.operators.empty()) return std::nullopt;
    std::sort(run.operators.begin(), run.operators.end(), [](const OperatorDemand& a, const OperatorDemand& b) {
        return std::tie(b.share, a.operator_id, a.parameters_key) < std::tie(a.share, b.operator_id, b.parameters_key);
    });
    // The time of those beyond is in no part: it goes as the rest of the run, which no operator stands for.
    if (run.operators.size() > kMaxNamedOperators) run.operators.resize(kMaxNamedOperators);
    return run;
}

ObservedWork observe_work(const JobEvidence& evidence, const CatalogSnapshot& catalog)
{
    if (evidence.profile.is_object()) {
        ObservedWork work = read_profile(evidence.profile, catalog);
        if (!work.operators.empty() || evidence.spec.operators.empty()) return work;
    }
    ObservedWork work;
    work.operators = evidence.spec.operators;
    work.source = work.operators.empty() ? "none" : evidence.operators_from.empty() ? "given" : "type";
    return work;
}

Json to_json(const JobEvidence& evidence, const ObservedWork& work, const CatalogSnapshot& catalog)
{
    Json operators = Json::array();
    for (const OperatorUse& use : work.operators)
        operators.push_back(use_json(use, evidence, catalog));
    return {{"job_id", evidence.id.value},
            {"type", evidence.job_type},
            {"source", work.source},
            {"operators_from", text_or_null(evidence.operators_from)},
            {"operators", std::move(operators)},
            {"remainder", remainder_json(evidence, work)},
            {"coverage", coverage_json(evidence, work)},
            {"wall_s", profile_member(evidence.profile, "wall_s", &Json::is_number)},
            {"unmatched", unmatched_json(evidence)},
            {"left_out", work.left_out},
            {"unlisted", to_json(work.unlisted)},
            {"unprobed", to_json(left_out_operators(work.operators, catalog.manifests()))}};
}

} // namespace fathom::server
