#pragma once

#include "core/model/operator_manifest.hpp"

#include <optional>

namespace fathom {

/// One operator at one size, executed `count` times: part of a job or of a probe task.
struct OperatorUse {
    std::string id;
    std::int64_t version{0}; ///< 0: the newest
    Parameters parameters;   ///< completed with the manifest's defaults once validated
    std::int64_t count{1};
    std::string label{};               ///< its name among the operators of one list: "P1"; empty for none
    std::vector<std::string> inputs{}; ///< labels whose averaged outputs it computes on (M5)
    std::optional<double> share{};     ///< of the job's run time, 0..1, where it was measured
    /// Not empty: it stands for work that no operator covers (M3), which is bound by "memory", "compute",
    /// "latency" or "io".
    std::string remainder{};
};

/// True when the uses are the same step: operator, version, size, and place in the data flow.
bool is_same_step(const OperatorUse& a, const OperatorUse& b);

/// Operators that one job or probe task may name.
inline constexpr std::size_t kMaxNamedOperators = 64;
/// Operators of a job that a probe task made from the job measures.
inline constexpr std::size_t kMaxMeasuredOperators = 16;

/// Seconds: the largest limit of a probe task.
inline constexpr double kMaxProbeLimit_s = 3600;

/// Whole numbers up to here survive every JSON reader.
inline constexpr std::int64_t kLargestSeed = (1LL << 53U) - 1;

/// A small program made of probe operators that stands for a job (M3, M4). What `fathom-probe` reads.
struct ProbeTask {
    std::string name;
    std::vector<OperatorUse> operators; ///< at least one
    std::int64_t repeats{7};            ///< samples of every operator at least (M17)
    /// More samples are taken until half the width of every operator's 95 % interval is at most this share of its
    /// median, or sample_budget_s is spent; 0: no more than `repeats`.
    double target_interval{0.03};
    double sample_budget_s{0}; ///< for samples beyond `repeats`; 0: a third of limit_s
    /// Inputs are made from it, so that results cannot be known beforehand; 0: the program's own, always the same.
    std::int64_t seed{0};      ///< at most kLargestSeed
    double min_sample_s{0.02}; ///< a sample executes its operator until at least this long
    double limit_s{10};        ///< the whole task is refused when it takes longer (M7)
    /// What the library says of versions that are newer than the runner's own: ranges, formulas, tolerance.
    /// The code is the runner's; so only operators that it has may stand here.
    std::vector<OperatorManifest> manifests{};
};

/// Reads `{"id", "version"?, "parameters"?, "count"?, "label"?, "inputs"?, "share"?, "remainder"?}`. Whether
/// the operator exists is not checked here.
OperatorUse parse_operator_use(const Json& json, const std::string& path, std::vector<FieldError>& errors,
                               UnknownFields unknown = UnknownFields::kReject);
Json to_json(const OperatorUse& use);

/// Checks the data flow of a list of operators: labels are unique, inputs name labels of the list, and no
/// operator computes on its own results, however indirectly. Errors are added under `path[i]`.
void check_data_flow(const std::vector<OperatorUse>& uses, const std::string& path, std::vector<FieldError>& errors);

/// Indices of `uses` such that each comes after those whose outputs it computes on; otherwise in the given
/// order. The data flow must have passed check_data_flow.
std::vector<std::size_t> data_flow_order(const std::vector<OperatorUse>& uses);

/// @error kInvalid  with every field error; at most kMaxNamedOperators, with a data flow without cycles.
Result<ProbeTask> parse_probe_task(const Json& json);
Json to_json(const ProbeTask& task);

/// The same operator at the same size: `dgemm(k=512,m=512,n=512)`, the key of measurements.
std::string operator_key(std::string_view id, const Parameters& parameters);

} // namespace fathom
