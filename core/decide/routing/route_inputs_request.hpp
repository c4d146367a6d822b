#pragma once

#include "core/decide/routing/route.hpp"

/// What the writers of a decision's inputs share.
namespace fathom::route_inputs {

Json measured_operator_json(const MeasuredOperator& one);
/// Whether the request reads measurements of the operator.
bool is_wanted(const RouteRequest& request, const std::string& operator_id);
/// Those that the request reads.
Json wanted_json(const RouteRequest& request, const SharedList<MeasuredOperator>& measured);
Json request_json(const RouteRequest& request);

} // namespace fathom::route_inputs
