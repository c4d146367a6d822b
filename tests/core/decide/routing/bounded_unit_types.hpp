#pragma once

#include "core/decide/routing/route_table.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

/// Networks of many unit types, for which tables have bounds.
namespace fathom::test {

inline const Timestamp kMorning = parse_rfc3339("2026-11-18T09:10:00Z").value();

/// Four times as fast from 00:00 to 06:00.
inline std::shared_ptr<const NetworkProfile> night_network(double day_bytes)
{
    NetworkProfile::Known known{};
    for (std::size_t hour = 0; hour < known.hours.size(); ++hour)
        known.hours[hour] = {3, hour % 24 < 6 ? 4 * day_bytes : day_bytes, 0.1};
    known.overall = {504, day_bytes, 0.2};
    return std::make_shared<const NetworkProfile>(NetworkProfile::from(known));
}

inline UnitTypeView bounded_unit_type(int number, double median_s, double day_bytes)
{
    UnitTypeView view;
    view.id = UnitTypeId{"ut_" + std::to_string(1000 + number)};
    view.center_name = "center" + std::to_string(number);
    view.resource_type = "cpu";
    view.operators = {"dgemm"};
    view.unit_count = 4;
    view.availability = Availability(4);
    MeasuredOperator one;
    one.operator_id = "dgemm";
    one.parameters_key = "n=1";
    one.operations = 1e9;
    one.median_s = median_s;
    one.ci_low_s = median_s * 0.95;
    one.ci_high_s = median_s * 1.05;
    view.measured = {one};
    view.network = night_network(day_bytes);
    return view;
}

/// e^log_factor times as long beside three cores of others.
inline std::shared_ptr<const UnitLoads> slower_by(double log_factor)
{
    OperatorLoad load{.operator_id = "dgemm", .curve = {}};
    load.curve.copies = {{.copies = 4, .busy_cores = 3, .log_factor = log_factor, .deviation = 0.02, .run_count = 1}};
    return std::make_shared<const UnitLoads>(UnitLoads{load});
}

/// The same beside three cores that have a bubble each; of jobs that take as much of memory as a bubble.
inline std::shared_ptr<const UnitLoads> slower_beside_bubbles_by(double log_factor)
{
    UnitLoads loads = *slower_by(log_factor);
    loads[0].curve.bubbles = loads[0].curve.copies;
    loads[0].curve.pressure = Pressure{1, 0.1, 2};
    return std::make_shared<const UnitLoads>(std::move(loads));
}

/// On up to 128 units nearly so many times as fast.
inline std::shared_ptr<const UnitSpeedups> well_divided()
{
    std::vector<ScalingPoint> points;
    for (const double n : {1, 4, 16, 64})
        points.push_back({n, n / (1 + 0.001 * n)});
    return std::make_shared<const UnitSpeedups>(UnitSpeedups{
        std::make_shared<OperatorSpeedup>("dgemm", "n=1", 1e9, fit_scaling(points, ScalingMode::kStrong).value())});
}

inline RouteRequest data_request(double in_bytes)
{
    RouteRequest request;
    request.operators = {{"dgemm", "n=1", 30'000, 1e9, 1e8}};
    request.units.count = 1;
    request.transfer.in_bytes = in_bytes;
    request.transfer.now = kMorning;
    return request;
}

inline std::vector<UnitTypeView> slower_and_slower(int size)
{
    std::vector<UnitTypeView> views;
    for (int i = 0; i < size; ++i)
        views.push_back(bounded_unit_type(i, 0.01 + 0.0002 * i, 1e8)); // a run of 300 s, then 6 s more each
    return views;
}

/// Of the kind's unit types those at which a choice was made.
inline std::ptrdiff_t looked_at(const RouteRequest& request, RouteTable& table)
{
    const RouteKnowledge none;
    PlaceChooser chooser(request, none);
    const RouteKind& kind = table.impl().kind_of(request, chooser);
    return std::count(kind.is_rough.begin(), kind.is_rough.end(), 0);
}

} // namespace fathom::test
