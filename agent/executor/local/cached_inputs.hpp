#pragma once

#include "agent/executor/local/attempt_folder.hpp"
#include "agent/executor/local/input_cache.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fathom::agent {

/// An input that may be kept, as it stands in its job's working folder.
struct KeepableInput {
    std::string path;
    std::string sha256;
};

/// Those that name their SHA-256 and come over the network.
std::vector<KeepableInput> keepable_inputs(const std::vector<JobInput>& inputs);

/// After a job: keeps copies of the inputs that it has fetched, where they are still as they were, and gives up those
/// that it found to have other content. Stops at the first that the job has changed or accused wrongly: it could have
/// large files read for nothing. Blocks.
/// @param work   its working folder
/// @param owner  who it ran as, to whom that folder belongs
/// @error kUnavailable  the cache cannot be written, or not be locked on its file system.
Result<void> keep_staged(const InputCache& cache, const std::vector<KeepableInput>& inputs,
                         const std::filesystem::path& work, uid_t owner, const KeepManner& manner = {});

/// What its center's cache has of the inputs of one attempt, and what it gets from that. Inputs take part that name
/// their SHA-256 and come over the network. Where the cache cannot be used, the job fetches what it needs. Blocks.
class CachedInputs {
  public:
    /// Opens those that are there.
    explicit CachedInputs(const SupervisorOrder& order);

    /// The numbers of the open files, by SHA-256: for the job, which is started with them.
    std::map<std::string, int> numbers() const;
    /// Once the job has been started.
    void close() { open_.clear(); }

    /// Once the job has ended: keep_staged().
    void keep_fetched(const AttemptFolder& folder) const;

  private:
    const SupervisorOrder& order_;
    std::optional<InputCache> cache_; ///< none: the attempt has no part in it
    std::map<std::string, OpenFile> open_;
};

} // namespace fathom::agent
