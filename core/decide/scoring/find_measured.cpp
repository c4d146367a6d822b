#include "core/decide/scoring/find_measured.hpp"

#include "core/base/parse_number.hpp"
#include "core/base/portable_math.hpp"
#include "core/decide/prediction/predict.hpp"
#include "core/model/formula.hpp"
#include "core/model/operator_manifest.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

namespace fathom {
namespace {

/// False for a size of another version of the operator, with other parameters or ranges.
bool fits(const OperatorManifest& manifest, const Parameters& parameters)
{
    return parameters.size() == manifest.parameters.size() &&
           std::all_of(manifest.parameters.begin(), manifest.parameters.end(), [&](const OperatorParameter& parameter) {
               const auto found = parameters.find(parameter.name);
               return found != parameters.end() && found->second >= parameter.min && found->second <= parameter.max;
           });
}

bool is_of_class(const OperatorManifest& manifest, const Parameters& parameters, std::string_view size_class)
{
    if (!fits(manifest, parameters)) return false;
    const SizeClass* found = size_class_of(manifest, parameters);
    return found != nullptr && found->name == size_class;
}

} // namespace

Parameters parameters_of_key(std::string_view key)
{
    Parameters parameters;
    while (!key.empty()) {
        const std::size_t end = std::min(key.find(','), key.size());
        const std::string_view item = key.substr(0, end);
        const std::size_t equals = std::min(item.find('='), item.size());
        if (const auto value = parse_number<std::int64_t>(item.substr(std::min(equals + 1, item.size()))))
            parameters[std::string(item.substr(0, equals))] = *value;
        key.remove_prefix(std::min(end + 1, key.size()));
    }
    return parameters;
}

const MeasuredOperator* find_measured(const WantedSize& wanted, const OperatorManifest* manifest,
                                      std::span<const MeasuredOperator> measured)
{
    const bool looks_for_class = manifest != nullptr && !wanted.size_class.empty();
    const Parameters asked = parameters_of_key(wanted.parameters_key);
    const double work = looks_for_class && fits(*manifest, asked) ? work_of(*manifest, asked) : 1;
    const auto rank = [&](const MeasuredOperator& one, double distance) {
        const bool is_set_back = wanted.is_of_memory && !one.cache_verdict.empty();
        return std::tuple(is_set_back, distance, -one.measured_at.time_since_epoch(),
                          std::string_view(one.probe_run_id));
    };
    const MeasuredOperator* best = nullptr;
    double best_distance = 0;
    for (const MeasuredOperator& one : measured) {
        if (one.operator_id != wanted.operator_id) continue;
        double distance = -1; // nothing is nearer than the size itself
        if (one.parameters_key != wanted.parameters_key) {
            const Parameters size = parameters_of_key(one.parameters_key);
            if (!looks_for_class || !is_of_class(*manifest, size, wanted.size_class)) continue;
            distance = std::abs(portable::log(work_of(*manifest, size) / work));
        }
        if (best != nullptr && rank(*best, best_distance) <= rank(one, distance)) continue;
        best = &one;
        best_distance = distance;
    }
    return best;
}

} // namespace fathom
