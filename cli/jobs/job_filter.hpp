#pragma once

#include "cli/client/command_line.hpp"

#include <string>

namespace fathom::cli {

/// Which jobs are listed or counted; empty texts mean any.
struct JobFilterOptions {
    std::string label;
    std::string state;
    std::string project;
    std::string center;
    std::string unit_type;
    std::string type;
    std::string submitted_by;
    std::string submitted_after;
    std::string submitted_before;
    std::string name;
};

/// `--label`, `--state` and the others of what lists or counts jobs. The options must live as long as the command.
void add_job_filter_options(CLI::App& verb, JobFilterOptions& options);

/// The same as the parameters of a request.
Query job_filter_query(const JobFilterOptions& options);

} // namespace fathom::cli
