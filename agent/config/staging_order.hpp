#pragma once

#include "core/model/job_input.hpp"

#include <filesystem>
#include <vector>

namespace fathom::agent {

/// Where inputs may come from at this center, besides https.
struct StagingRule {
    bool takes_http = false;
    std::vector<std::filesystem::path> folders{}; ///< below which file URLs may point
};

Json to_json(const StagingRule& rule);
/// @error kInvalid  not what to_json() wrote.
Result<StagingRule> read_staging_rule(const Json& json);

/// What fathom-stage is to do.
struct StagingOrder {
    std::vector<JobInput> inputs;
    StagingRule rule;
};

std::string encode(const StagingOrder& order);
/// @error kInvalid  not what encode() wrote.
Result<StagingOrder> decode_staging_order(const std::string& text);

/// The order, in the working folder of a job with inputs.
inline constexpr const char* kStagingOrderName = ".fathom-inputs.json";
/// Where fathom-stage says why it failed, beside it.
inline constexpr const char* kStagingFailureName = ".fathom-staging-failed";
/// The program, in the folder of fathom-probe.
inline constexpr const char* kStagingProgram = "fathom-stage";

} // namespace fathom::agent
