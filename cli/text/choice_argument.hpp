#pragma once

#include "core/base/json_reader.hpp"

#include <optional>
#include <string>

/// What a job's place is chosen by, as flags say it.
namespace fathom::cli {

/// `--budget`: "12.50EUR" or "12.50 EUR". @error kInvalid
Result<Json> parse_budget_argument(const std::string& text);

/// `--prefer`: "fastest", or weights, "time=0.5,cost=0.5". What is wrong with it the job's parser says.
Json preference_of_argument(const std::string& text);

} // namespace fathom::cli
