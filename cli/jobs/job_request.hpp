#pragma once

#include "cli/text/console.hpp"
#include "core/base/json_reader.hpp"

#include <optional>
#include <string>
#include <vector>

namespace fathom::cli {

/// A job as `fathom job submit` and `job preview` are told of it: a file, or flags and a program.
struct JobRequestOptions {
    std::string file; ///< YAML or JSON; "-" for standard input; empty: the flags say it
    std::vector<std::string> operators;
    std::string units; ///< "auto" or a number
    std::string unit_type;
    std::string center;
    std::string name;
    std::string project;
    std::string type;
    std::vector<std::string> environment; ///< K=V
    std::vector<std::string> secrets;     ///< names of variables of ours
    std::vector<std::string> inputs;      ///< URL=PATH
    std::vector<std::string> uploads;     ///< PATH=URL
    bool profile = false;
    bool ignore_knee = false;
    std::optional<double> in_bytes;
    std::optional<double> out_bytes;
    std::string network;  ///< "auto" or "now"
    std::string deadline; ///< RFC 3339
    std::string budget;   ///< "12.50EUR"
    std::string prefer;   ///< a name, or weights
    std::optional<std::int64_t> priority;
    std::string device;             ///< "cpu" or "gpu"
    std::vector<std::string> isa;   ///< instruction sets
    std::vector<std::string> sites; ///< centers that the data may be at
    std::optional<std::int64_t> memory_bytes;
    std::optional<std::int64_t> gpu_persistent_bytes;
    std::optional<std::int64_t> gpu_temporary_bytes;
    std::string sharing; ///< "allowed" or "exclusive"
    std::optional<std::int64_t> wall_limit_s;
    bool requeue = false;
    std::vector<std::string> modules;
    std::string container; ///< its image
    std::optional<std::int64_t> metering_wait_s;
    std::vector<std::string> program; ///< after `--`
};

/// The body for the server, already checked as far as that is possible here: a JobSpec, or a list of
/// them when the file holds one.
/// @error kInvalid  the detail names the file or flag, the fields what is wrong.
Result<Json> make_job_request(const JobRequestOptions& options, const Console& console);

} // namespace fathom::cli
