#pragma once

#include "agent/executor/slurm/slurm_text.hpp"

#include <functional>
#include <set>

namespace fathom::agent {

// What slurmrestd (v0.0.38, of Slurm 22.05) answers. Pure. Answers are read strictly: one that is not as this version
// has it says nothing, rather than something else. Of jobs that are not the asking users' only whose they are is read.

/// An answer as it came.
struct RestAnswer {
    long status{}; ///< of HTTP
    std::string body;
};

/// What a refusal means: the first of the answer's `errors`, with Slurm's number and words, and a way out where there
/// is one. kInvalid: for good; kTooMany: Slurm does not take it now; kNotFound: no such job, or it has ended;
/// kInfeasible: slurmrestd has no such operation; kUnavailable: slurmctld or slurmdbd does not answer slurmrestd, or
/// does not believe the token.
/// @param what  that was asked for: "submit a job"
Error rest_refusal(const RestAnswer& answer, const std::string& what);

/// The number of the job that was submitted.
/// @error kInvalid, kTooMany, kUnavailable  as SlurmOrders::submit().
Result<std::string> parse_rest_submitted(const RestAnswer& answer);

/// Jobs of these users.
/// @param now  which running jobs' time counts to; Slurm tells when they started
/// @error kUnavailable  it is a refusal, or cannot be read.
Result<std::vector<SlurmJob>> parse_rest_queue(const RestAnswer& answer, const std::set<unsigned>& users,
                                               Timestamp now);

/// Jobs as Slurm's accounting keeps them; see parse_accounts(). Of a job that failed, v0.0.38 tells an exit code of 0
/// whatever it was: such a status is not known (SlurmJob::knows_status).
/// @param uid_of  the user of a name; empty: there is none here, and the job is left out
/// @error kInfeasible   slurmrestd asks no slurmdbd.
/// @error kUnavailable  it is another refusal, or cannot be read.
Result<std::vector<SlurmJob>>
parse_rest_accounts(const RestAnswer& answer, const std::function<std::optional<unsigned>(const std::string&)>& uid_of);

/// Whether the job has been asked to end, or has ended before.
/// @error kTooMany, kUnavailable  neither.
Result<void> parse_rest_cancelled(const RestAnswer& answer);

} // namespace fathom::agent
