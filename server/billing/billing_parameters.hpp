#pragma once

#include "server/billing/export_stream.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

/// What requests of billing say, as the query of a request or a scheduled export has it.
namespace fathom::server {

/// Values by name, as they are in the query of a request.
using BillingParameters = std::map<std::string, std::string>;

/// An error of one parameter.
Error parameter_error(std::string name, std::string detail);
/// Empty: not given.
std::string parameter(const BillingParameters& parameters, const std::string& name);
/// A month; empty: not given. @error kInvalid
Result<std::string> period_parameter(const BillingParameters& parameters);
/// @error kInvalid  a parameter is none of `known`.
Result<void> check_parameters(const BillingParameters& parameters, std::initializer_list<std::string_view> known);
/// project, center, job_id, from, until. @error kInvalid
Result<UsageFilter> parse_usage_filter(const BillingParameters& parameters);

/// @param name        of the format: "focus", "jsonl", "ledger", "apel", "apel-summary", "sacct".
/// @param parameters  as GET /exports/{format} takes them.
/// @error kNotFound  there is no such format.
/// @error kInvalid   a parameter is wrong, or says nothing for the format.
Result<ExportRequest> parse_export(std::string_view name, const BillingParameters& parameters);

} // namespace fathom::server
