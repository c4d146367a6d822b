#pragma once

#include "core/base/result.hpp"
#include "server/store/time_range.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fathom::server {

/// The query of a request: decoded values by name. Behind the ApiRouter it has only what the contract declares, with
/// values of the declared types, so that nothing has to be checked again.
using Query = std::map<std::string, std::string>;

/// Empty: the parameter is not given.
std::string query_text(const Query& query, const std::string& name);

/// Of a boolean parameter; empty: it is not given.
std::optional<bool> query_flag(const Query& query, const std::string& name);

/// Of a parameter that is a whole number; empty: it is not given.
std::optional<std::int64_t> query_integer(const Query& query, const std::string& name);

/// Of the parameters `since` and `until`. Says so among the errors where one is not after the other.
TimeRange query_time_range(const Query& query, std::vector<FieldError>& errors);

} // namespace fathom::server
