#pragma once

#include "cli/client/command_line.hpp"
#include "cli/text/table.hpp"

#include <string>
#include <utility>
#include <vector>

namespace fathom::cli {

/// `fathom unit gpus`
void add_shared_gpu_list(CLI::App& noun, Invocation& invocation);

/// Each GPU in the answer of /shared-gpus, and what each program has of it.
std::vector<std::pair<std::string, Cell>> unit_gpu_details(const Json& gpus);

/// What a job's programs have of the GPUs in the answer of /shared-gpus, with whom they share and what that costs.
/// Empty when they are on none.
std::vector<std::pair<std::string, Cell>> shared_gpu_details(const Json& gpus, const std::string& job);

/// The same of a job that has ended, by the answer of /jobs/{id}/gpus.
std::vector<std::pair<std::string, Cell>> kept_gpu_details(const Json& gpus);

} // namespace fathom::cli
