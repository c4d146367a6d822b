#pragma once

#include "core/base/json_reader.hpp"

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

namespace fathom::cli {

/// What is to be measured where, as the command line says it: for `fathom probe run` and for schedules.
struct ProbeOrderOptions {
    std::vector<std::string> operators;
    std::string task;
    std::string job_type;
    bool force = false;
    std::vector<std::string> units;
    std::vector<std::string> centers;
    std::string selection;
    bool ask = false;
    std::optional<std::int64_t> answer_wait_s;
    bool center_chooses = false;
    std::optional<std::int64_t> count;
    std::vector<std::int64_t> counts;
    bool scaling = false;
    bool copies = false;
};
void add_probe_order_options(CLI::App& verb, ProbeOrderOptions& options);

/// The body of POST /probe-runs; an empty object when no option was given.
/// @error kInvalid  an operator that cannot be read, or options that do not fit together.
Result<Json> probe_order_of(const ProbeOrderOptions& options);

} // namespace fathom::cli
