#pragma once

#include "core/model/job.hpp"
#include "server/identity/job_look.hpp"
#include "server/store/transaction.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// Inputs that are outputs of earlier jobs: decisions/0027-outputs-as-inputs.md
namespace fathom::server {

/// Whether one of these jobs has such an input.
bool take_outputs(std::span<const JobSpec> specs);

/// An input that is no output as it says.
struct OutputProblem {
    std::size_t job{}; ///< index
    FieldError error;  ///< of its input
};

/// What was found of the outputs that jobs take.
struct FoundOutputs {
    /// Inputs that are no outputs which their submitter may read, or have other content than they say, up to a hundred;
    /// the same words for jobs that there are not and jobs of others.
    std::vector<OutputProblem> problems;
    std::int64_t bytes{}; ///< of URLs, digests and ids of centers that the inputs have now
};

/// Looks where those outputs were stored, and gives their inputs what is known of them: SHA-256 and size, a URL where
/// they name none, and the centers that keep a copy. That their submitter sees an earlier job by its role alone is in
/// the audit log (job.read_output). May be called again on the same jobs. Outputs of more than a thousand jobs, and
/// more than 16 MiB of what is known of them, are a problem. Blocks; pqxx's exceptions pass through.
FoundOutputs find_outputs(pqxx::transaction_base& transaction, std::span<JobSpec> specs, const JobReader& submitter);

/// Notes that the center of an attempt that has ended well keeps the outputs of earlier jobs that it has fetched for
/// it. Blocks; pqxx's exceptions pass through.
void insert_kept_outputs(pqxx::transaction_base& transaction, const AttemptId& attempt);

} // namespace fathom::server
