#pragma once

#include "core/decide/routing/route.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

/// Places with a job each, for tests of what becomes of the job there.
namespace fathom::test {

inline const Timestamp kNow = parse_rfc3339("2026-11-18T09:10:00Z").value();
inline constexpr double kHour_s = 3600;

inline MeasuredOperator measured(const std::string& id, double median_s)
{
    MeasuredOperator one;
    one.operator_id = id;
    one.parameters_key = "n=1";
    one.operations = 1e9;
    one.median_s = one.ci_low_s = one.ci_high_s = median_s;
    return one;
}

/// So much by day, and so much from 0 to 6 h.
inline std::shared_ptr<const UnitPrice> price(double day, double night)
{
    PriceEntry entry;
    entry.per_unit_hour_micros = to_micros(day);
    entry.bands = {{{}, 0, 6, to_micros(night)}};
    return std::make_shared<const UnitPrice>(entry);
}

inline UnitTypeView unit_type(const std::string& name, std::int64_t unit_count = 1)
{
    UnitTypeView view;
    view.id = UnitTypeId{"ut_" + name};
    view.center_name = name;
    view.name = "core";
    view.operators = {"dgemm", "fft1d"};
    view.unit_count = unit_count;
    view.availability = Availability(unit_count);
    view.measured = {measured("dgemm", 0.01)};
    return view;
}

/// So long on one unit.
inline RouteRequest job_of(double hours)
{
    RouteRequest request;
    request.operators = {{"dgemm", "n=1", static_cast<std::int64_t>(hours * kHour_s / 0.01), 1e9, 1e8}};
    request.transfer.now = kNow;
    return request;
}

inline const Candidate& winner_of(const Decision& decision)
{
    return decision.candidates.at(decision.winner.value());
}

} // namespace fathom::test
