#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

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

} // namespace fathom::server
