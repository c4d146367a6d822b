#pragma once

#include "core/decide/routing/route.hpp"
#include "core/decide/routing/unit_type_facts.hpp"

#include <optional>
#include <string>
#include <string_view>

/// The filters that look at a unit type and a request alone; part of core/decide/routing/route.
namespace fathom {

/// The first of the filters from kPolicy to kDataSite that removes the unit type, else kDrain or kHealth where it takes
/// no work; empty: it stays. Quota, deadline and budget need a run time first (core/decide/routing/place).
std::optional<Filter> removing_filter(const RouteRequest& request, const UnitTypeView& view);
/// The same where the facts of the view are known, and whether the unit type runs all operators of the request.
std::optional<Filter> removing_filter(const RouteRequest& request, const UnitTypeView& view, const UnitTypeFacts& facts,
                                      bool runs_operators);

/// Whether removing_filter() of the request reads nothing but facts: then it is the same for all unit types of one of
/// FactGroups that run, or do not run, all operators.
bool asks_facts_only(const RouteRequest& request);

/// Whether the unit type's center has refused the job (RouteRequest::refused_by).
bool has_refused(const RouteRequest& request, const UnitTypeView& view);

/// By which unit types offer an operator: `id@version` is another version than the one in use, and whoever runs the one
/// runs the other.
std::string_view offered_id(std::string_view operator_id);

bool has_operator(const UnitTypeView& view, const std::string& operator_id);

/// Of the unit type's center: true for its name and for its id.
bool is_center(const UnitTypeView& view, const std::string& name_or_id);

/// Why that filter removes it, for people.
std::string filter_reason(const RouteRequest& request, const UnitTypeView& view, Filter filter);

} // namespace fathom
