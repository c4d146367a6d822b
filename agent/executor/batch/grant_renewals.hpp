#pragma once

#include "agent/executor/batch/batch_folder.hpp"
#include "agent/executor/s3_grants.hpp"

#include <chrono>

namespace fathom::agent {

/// Notes in an attempt's folder what of its order is to be signed anew; nothing where it names no s3:// URL. Call it
/// before the attempt can run.
/// @error kUnavailable  it cannot be written.
Result<void> note_signed(const AttemptOrder& order, const BatchFolder& folder, const std::optional<JobUser>& user);

/// Signs anew for the s3:// URLs of a batch system's jobs: one waits and runs for as long as the batch system lets it,
/// and no signature is good for more than seven days. What is signed lies beside a job's working folder (kRenewedName),
/// as its user's, and fathom-stage takes it when it needs it. Not thread-safe.
class GrantRenewals {
  public:
    /// @param folder  of all attempts
    GrantRenewals(std::filesystem::path folder, S3Store store) : folder_(std::move(folder)), store_(std::move(store)) {}

    /// For every attempt that has not ended and whose signatures are older than a day. It looks once an hour, however
    /// often it is called. Blocks for files. What cannot be written is logged, and tried again an hour later.
    void look(Timestamp now);

  private:
    std::filesystem::path folder_;
    S3Store store_;
    std::optional<Timestamp> looked_at_;
};

} // namespace fathom::agent
