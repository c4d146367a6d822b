#include "core/decide/scoring/resolve_policy.hpp"

#include "core/base/json_reader.hpp"
#include "core/base/result.hpp"
#include "core/decide/prediction/predict.hpp"
#include "core/decide/probing/generate_task.hpp"
#include "core/decide/scoring/find_measured.hpp"
#include "core/decide/scoring/metric_policy.hpp"
#include "core/model/formula.hpp"
#include "core/model/operator_manifest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fathom {
namespace {

/// Of a policy with all that it combines: scoring visits each.
constexpr std::size_t kMaxPolicies = 64;

using Errors = std::vector<FieldError>;
using PolicyPointer = std::shared_ptr<const MetricPolicy>;

/// Looks up parts of parts, knowing the way from the policy that is resolved.
class Resolver {
  public:
    Resolver(const MetricPolicy& root, const PolicyLookup& lookup, Errors& errors)
        : root_(&root), lookup_(&lookup), errors_(&errors)
    {
    }

    /// Looks up the parts of `policy`, and theirs. `path` stands before field names: where it came from.
    void resolve(MetricPolicy& policy, const std::string& path)
    {
        way_.push_back(policy_name(policy));
        for (std::size_t i = 0; i < policy.parts.size(); ++i) {
            const std::string field = fmt::format("{}policies[{}].policy", path, i);
            policy.parts[i].policy = find(policy.parts[i], field);
        }
        way_.pop_back();
    }

  private:
    PolicyPointer find(const PolicyPart& part, const std::string& field)
    {
        const bool is_root = part.id == root_->id && (part.version == 0 || part.version == root_->version);
        std::optional<MetricPolicy> found = is_root ? *root_ : (*lookup_)(part.id, part.version);
        if (!found) {
            const std::string version = part.version == 0 ? "" : "@" + std::to_string(part.version);
            errors_->push_back({field, part.id + version + " does not exist"});
            return nullptr;
        }
        const auto before = std::find(way_.begin(), way_.end(), policy_name(*found));
        if (before != way_.end()) {
            std::string cycle;
            for (auto step = before; step != way_.end(); ++step)
                cycle += *step + " -> ";
            errors_->push_back({field, "closes a cycle: " + cycle + *before});
            return nullptr;
        }
        if (++count_ > kMaxPolicies) {
            if (count_ == kMaxPolicies + 1)
                errors_->push_back({field, fmt::format("more than {} policies are combined", kMaxPolicies)});
            return nullptr;
        }
        resolve(*found, field + ".");
        return std::make_shared<const MetricPolicy>(std::move(*found));
    }

    const MetricPolicy* root_;
    const PolicyLookup* lookup_;
    Errors* errors_;
    std::vector<std::string> way_; ///< names from the root to the policy that is being resolved
    std::size_t count_ = 0;
};

/// A formula's value; empty where it has none.
std::optional<double> value_of(const std::string& formula, const Parameters& parameters)
{
    const Result<double> value = evaluate_formula(formula, parameters);
    return value ? std::optional(*value) : std::nullopt;
}

void check_work(const std::string& field, double given, const std::string& formula, const Parameters& parameters,
                Errors& errors)
{
    const std::optional<double> right = value_of(formula, parameters);
    if (!right || std::abs(given - *right) <= 1e-9 * std::max(std::abs(*right), 1.0)) return;
    errors.push_back({field, fmt::format("must be {:.17g}, which the operator's formula {} gives", *right, formula)});
}

void check_figure(const MeasuredOperator& figure, const std::string& path, const ManifestLookup& manifests,
                  Errors& errors)
{
    const OperatorManifest* manifest = manifests(figure.operator_id, 0);
    if (manifest == nullptr) {
        errors.push_back({path + ".operator", "the library has no operator " + figure.operator_id + " in use"});
        return;
    }
    const Parameters given = parameters_of_key(figure.parameters_key);
    const std::size_t before = errors.size();
    const Parameters complete = complete_parameters(*manifest, given, path + ".parameters", errors);
    if (errors.size() > before) return;
    for (const OperatorParameter& parameter : manifest->parameters) {
        if (!given.contains(parameter.name))
            errors.push_back({path + ".parameters." + parameter.name, "is required: a size must be complete"});
    }
    check_work(path + ".operations", figure.operations, manifest->operation_count, complete, errors);
    check_work(path + ".bytes", figure.bytes, manifest->byte_count, complete, errors);
}

bool has_reference(const MetricPolicy& policy, const std::string& operator_id)
{
    return std::any_of(policy.reference.begin(), policy.reference.end(),
                       [&](const MeasuredOperator& figure) { return figure.operator_id == operator_id; });
}

void check_aggregate(const MetricPolicy& policy, const ManifestLookup& manifests, Errors& errors)
{
    for (const auto& [category, weights] : policy.aggregate.operators) {
        for (const auto& [operator_id, weight] : weights) {
            const std::string field = "aggregate.operators." + category + "." + operator_id;
            const OperatorManifest* manifest = manifests(operator_id, 0);
            if (manifest == nullptr)
                errors.push_back({field, "the library has no such operator in use"});
            else if (manifest->category != category)
                errors.push_back({field, "its category is " + manifest->category});
            else if (policy.kind == MetricPolicy::Kind::kRelative && !has_reference(policy, operator_id))
                errors.push_back({field, "has a weight but no reference figure"});
        }
    }
}

} // namespace

Result<MetricPolicy> resolve_policy(MetricPolicy policy, const PolicyLookup& lookup)
{
    Errors errors;
    const MetricPolicy root = policy;
    Resolver(root, lookup, errors).resolve(policy, "");
    return value_or_errors(std::move(policy), std::move(errors), "the metric policy");
}

std::vector<FieldError> check_against_library(const MetricPolicy& policy, const ManifestLookup& manifests)
{
    Errors errors;
    for (std::size_t i = 0; i < policy.reference.size(); ++i)
        check_figure(policy.reference[i], fmt::format("reference[{}]", i), manifests, errors);
    check_aggregate(policy, manifests, errors);
    return errors;
}

} // namespace fathom
