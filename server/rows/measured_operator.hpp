#pragma once

#include "core/decide/prediction/predict.hpp"
#include "server/store/column.hpp"

#include <pqxx/row>

namespace fathom::server {

/// The figures that decisions use, from a row with the columns of table measurement.
inline MeasuredOperator to_measured_operator(const pqxx::row& row)
{
    return {.operator_id = row["operator_id"].as<std::string>(),
            .parameters_key = row["parameters_key"].as<std::string>(),
            .operations = row["operations"].as<double>(),
            .bytes = row["bytes"].as<double>(),
            .median_s = row["median_s"].as<double>(),
            .ci_low_s = row["ci_low_s"].as<double>(),
            .ci_high_s = row["ci_high_s"].as<double>(),
            .error = row["error"].as<double>(),
            .tolerance = row["tolerance"].as<double>(),
            .start_up_s = row["start_up_s"].as<double>(),
            .probe_run_id = row["probe_run_id"].as<std::string>(),
            .measured_at = to_timestamp(row["measured_at"]),
            .cache_verdict = row["cache_verdict"].as<std::string>()};
}

} // namespace fathom::server
