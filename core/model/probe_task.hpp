#pragma once

#include "core/model/operator_manifest.hpp"

namespace fathom {

/// One operator at one size, executed `count` times: part of a job or of a probe task.
struct OperatorUse {
    std::string id;
    std::int64_t version{0}; ///< 0: the newest
    Parameters parameters;   ///< completed with the manifest's defaults once validated
    std::int64_t count{1};
};

/// A small program made of probe operators that stands for a job (M3, M4). What `fathom-probe` reads.
struct ProbeTask {
    std::string name;
    std::vector<OperatorUse> operators; ///< at least one
    std::int64_t repeats{7};            ///< samples of every operator (M17)
    double min_sample_s{0.02};          ///< a sample executes its operator until at least this long
    double limit_s{10};                 ///< the whole task is refused when it takes longer (M7)
};

/// Reads `{"id", "version"?, "parameters"?, "count"?}`. Whether the operator exists is not checked here.
OperatorUse parse_operator_use(const Json& json, const std::string& path, std::vector<FieldError>& errors);
Json to_json(const OperatorUse& use);

/// @error kInvalid  with every field error; at most 64 operators.
Result<ProbeTask> parse_probe_task(const Json& json);
Json to_json(const ProbeTask& task);

/// The same operator at the same size: `dgemm(k=512,m=512,n=512)`, the key of measurements.
std::string operator_key(std::string_view id, const Parameters& parameters);

} // namespace fathom
