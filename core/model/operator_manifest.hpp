#pragma once

#include "core/base/json_reader.hpp"
#include "core/model/formula.hpp"

#include <optional>
#include <string>
#include <vector>

namespace fathom {

/// One parameter of a probe operator.
struct OperatorParameter {
    std::string name; ///< [a-z][a-z0-9_]*
    std::int64_t min{};
    std::int64_t max{};
    std::int64_t default_value{};
    std::string description;
    /// A probe's size is drawn at random at most this share away from the asked one; 0: it is not drawn, because
    /// time does not follow work from size to size (transforms).
    double draw_share{0};
    std::int64_t draw_step{1}; ///< drawn sizes differ from the asked one by multiples of this
};

/// How an operator is computed on one kind of resource.
struct OperatorImplementation {
    std::string resource_type; ///< "cpu", "cuda"
    std::string library;       ///< "openblas", "fftw", "onednn", "own"
};

/// A size that stands for all sizes near it: a job's operator belongs to the class whose work is nearest
/// on a log scale (`size_class_of`).
struct SizeClass {
    std::string name; ///< "small", "medium", …
    Parameters parameters;
};

/// Of an operator whose rate is to be that of memory: how large its arrays must be beside the caches. STREAM's rule is
/// that each has at least four times the size of all last-level caches that the run uses.
struct CacheRule {
    std::string array_bytes;  ///< formula of the parameters: size of each array
    std::string memory_bytes; ///< formula of the parameters: size of all arrays together
    double least_multiple{4}; ///< size of an array ÷ size of the last-level caches, at least
    /// Sizes above the default for units with larger caches, by growing arrays. They belong to the default's size class
    /// or to one above it.
    std::vector<Parameters> larger_sizes;
};

/// What one execution of an operator that measures latency goes through, by which results name the level of memory.
struct WorkingSet {
    std::string bytes; ///< formula of the parameters
    std::string parts; ///< formula of the parameters: so many processors, at most, go through it side by side
};

/// What an uploaded operator may use; the probe's sandbox keeps it to that.
struct SandboxLimits {
    bool network{false};
    std::int64_t memory_bytes{1LL << 30U};
};

/// What an operator is recognised by in a job (M3).
struct OperatorSignature {
    std::vector<std::string> symbols;        ///< library entry points: "dgemm_", "cblas_dgemm"
    std::vector<std::string> argument_kinds; ///< "matrix_fp64", "vector_fp64", …
};

/// A probe operator (M2): one core computation whose speed decides a job's speed.
/// Every change makes a new version; versions never vanish.
struct OperatorManifest {
    std::string id; ///< [a-z][a-z0-9_]*, at most 64 characters
    std::int64_t version{1};
    std::string category; ///< "hpc", "ai", "memory", …
    std::string description;
    std::vector<OperatorParameter> parameters;
    std::vector<std::string> inputs;  ///< what goes in, one phrase each
    std::vector<std::string> outputs; ///< what comes out, one phrase each
    std::string operation_count;      ///< formula of the parameters: floating-point operations of one execution
    std::string byte_count; ///< formula of the parameters: least bytes moved to and from memory by one execution
    std::string truth;      ///< how the truth value is known, in one sentence
    double tolerance{};     ///< largest relative error of a right result
    std::string precision;  ///< "fp64", "fp32", …
    std::vector<OperatorImplementation> implementations;
    OperatorSignature signature;
    std::vector<SizeClass> size_classes;     ///< by growing work; may be empty
    std::optional<CacheRule> cache_rule{};   ///< of an operator that measures memory
    std::optional<WorkingSet> working_set{}; ///< of an operator that measures latency
    SandboxLimits sandbox;                   ///< for uploaded operators only

    /// True for an operator whose code was uploaded: its library is "uploaded".
    bool is_uploaded() const;
    /// The default value of every parameter.
    Parameters default_parameters() const;
    bool runs_on(std::string_view resource_type) const;
};

/// Operators that are measured between processes have ids that begin with `mpi_`, where a center's MPI starts and
/// connects them, or `tcp_`, where `fathom-probe` does. A unit of one processor cannot run them, and they alone can be
/// measured where the units of a probe lie on several hosts.
bool is_exchange_operator(std::string_view id);

/// Lower-case letters, digits and _, starting with a letter; at most 64 of them. It is safe in a path.
bool is_operator_id(std::string_view text);

/// Reads and checks a manifest, formulas included (evaluated at the defaults and at the ranges' ends).
/// @error kInvalid  with every field error.
Result<OperatorManifest> parse_operator_manifest(const Json& json);
Json to_json(const OperatorManifest& manifest);

/// Leaves out what the metascheduler alone reads (cache_rule, working_set): agents of older releases refuse a manifest
/// with a field that they do not know.
void leave_out_own_fields(OperatorManifest& manifest);

/// The work of one execution: operations, or bytes for operators without any; at least 1, also
/// where the formulas have no value. Parameters must be complete and in range.
double work_of(const OperatorManifest& manifest, const Parameters& parameters);

/// The class that a size belongs to; nullptr when the manifest has no classes.
const SizeClass* size_class_of(const OperatorManifest& manifest, const Parameters& parameters);

/// Completes parameters with the manifest's defaults and checks names and ranges.
/// Errors are added to `errors` under `path`.
Parameters complete_parameters(const OperatorManifest& manifest, const Parameters& given, const std::string& path,
                               std::vector<FieldError>& errors);

/// Reads `{"m": 512, …}`: whole numbers only, at most 16 names.
Parameters parse_parameters(const Json& json, const std::string& path, std::vector<FieldError>& errors);
Json to_json(const Parameters& parameters);

} // namespace fathom
