#pragma once

#include "core/decide/probing/probe_budget.hpp"

#include <pqxx/row>

namespace fathom::server {

/// From a row with the columns of view probe_budget.
inline ProbeBudget to_probe_budget(const pqxx::row& row)
{
    return {.share = row["share"].as<double>(),
            .unit_count = row["unit_count"].as<std::int64_t>(),
            .used_s = row["used_s"].as<double>(),
            .reserved_s = row["reserved_s"].as<double>()};
}

} // namespace fathom::server
