#pragma once

#include "core/base/result.hpp"

#include <cstdint>
#include <filesystem>
#include <string>

namespace fathom::gpu {

/// Which programs are a job's: the agent gives each job a number that it makes of the job's id and a secret, and the
/// memory manager believes a program's word of its job only with that number. Immutable.
class JobNames {
  public:
    /// The secret of that file, which is made where there is none: jobs outlive the agent.
    /// @error kUnavailable  the file can be neither read nor written.
    static Result<JobNames> load(const std::filesystem::path& file);

    /// Above 0.
    std::int64_t proof(const std::string& job) const;
    bool is_of_job(const std::string& job, std::int64_t said) const { return said == proof(job); }

  private:
    explicit JobNames(std::string secret) : secret_(std::move(secret)) {}

    std::string secret_;
};

} // namespace fathom::gpu
