#include "server/catalog/catalog_curves.hpp"

#include <algorithm>

namespace fathom::server {
namespace {

bool are_equal(const std::vector<ScalingPoint>& a, const std::vector<ScalingPoint>& b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const ScalingPoint& x, const ScalingPoint& y) {
        return x.unit_count == y.unit_count && x.rate == y.rate;
    });
}

std::shared_ptr<const OperatorSpeedup> find_equal(const UnitSpeedups& known, const std::string& operator_id,
                                                  const std::string& parameters_key,
                                                  const std::vector<ScalingPoint>& points)
{
    for (const std::shared_ptr<const OperatorSpeedup>& one : known) {
        if (one->operator_id() == operator_id && one->parameters_key() == parameters_key)
            return are_equal(one->points(), points) ? one : nullptr;
    }
    return nullptr;
}

} // namespace

void CatalogCurves::add(std::size_t unit_type, const MeasuredOperator& measured, std::int64_t unit_count)
{
    if (measured.median_s <= 0) return;
    Points& points = by_size_[{unit_type, measured.operator_id, measured.parameters_key}];
    points.work = measured.operations > 0 ? measured.operations : measured.bytes;
    points.points.push_back({static_cast<double>(unit_count), 1 / measured.median_s});
}

void CatalogCurves::finish(CatalogSnapshot& catalog, const CatalogSnapshot& previous) const
{
    std::map<std::size_t, UnitSpeedups> fresh;
    for (const auto& [key, measured] : by_size_) {
        const auto& [unit_type, operator_id, parameters_key] = key;
        if (measured.points.size() < 2) continue;
        std::vector<ScalingPoint> points = measured.points;
        std::sort(points.begin(), points.end(),
                  [](const ScalingPoint& a, const ScalingPoint& b) { return a.unit_count < b.unit_count; });
        std::shared_ptr<const OperatorSpeedup> speedup;
        const UnitTypeView* const before = previous.find_unit_type(catalog.unit_types[unit_type].id.value);
        if (before != nullptr && before->speedups)
            speedup = find_equal(*before->speedups, operator_id, parameters_key, points);
        if (!speedup) {
            const Result<ScalingCurve> curve = fit_scaling(points, ScalingMode::kStrong);
            if (!curve) continue; // no model fits: the operator is placed as if it were not measured on several
            speedup = std::make_shared<OperatorSpeedup>(operator_id, parameters_key, measured.work, *curve);
        }
        fresh[unit_type].push_back(std::move(speedup));
    }
    for (auto& [unit_type, speedups] : fresh)
        catalog.unit_types[unit_type].speedups = std::make_shared<const UnitSpeedups>(std::move(speedups));
}

} // namespace fathom::server
