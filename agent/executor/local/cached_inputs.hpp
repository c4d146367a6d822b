#pragma once

#include "agent/executor/local/attempt_folder.hpp"
#include "agent/executor/local/input_cache.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace fathom::agent {

/// A file that may be kept for later jobs, as it stands in its job's working folder: an input, or an output that was
/// stored.
struct KeepableInput {
    std::string path;
    std::string sha256;
};

/// Those that name their SHA-256 and come over the network.
std::vector<KeepableInput> keepable_inputs(const std::vector<JobInput>& inputs);
/// The paths of the outputs that a job is ordered to store.
std::set<std::string> declared_paths(const std::vector<JobOutput>& outputs);
/// What a job's outputs are kept as: all that were stored, wherever to, each of the declared paths once. What was
/// stored is the job's user's to forge: other paths are left out, and what is kept is checked.
std::vector<KeepableInput> keepable_outputs(const std::vector<StoredOutput>& outputs, std::set<std::string> declared);
/// Whether a copy that its center has may take the input's place: where it names its SHA-256, and comes over the
/// network or is an output of an earlier job.
bool is_found_by_content(const JobInput& input);

/// After a job: keeps copies of its inputs and outputs, where they are still as they were, and gives up those inputs
/// that it found to have other content. Stops at the first that the job has changed or accused wrongly: it could have
/// large files read for nothing. Files with which they would be more than manner.most_bytes are passed over. Blocks.
/// @param work   its working folder
/// @param owner  who it ran as, to whom that folder belongs
/// @error kUnavailable  the cache cannot be written, or not be locked on its file system.
Result<void> keep_staged(const InputCache& cache, const std::vector<KeepableInput>& inputs,
                         const std::filesystem::path& work, uid_t owner, const KeepManner& manner = {});

/// What its center's cache has of the inputs of one attempt, and what the cache gets of the attempt. Inputs take part
/// for which is_found_by_content() says so. Where the cache cannot be used, the job fetches what it needs. Blocks.
class CachedInputs {
  public:
    /// Opens those that are there.
    explicit CachedInputs(const SupervisorOrder& order);

    /// The numbers of the open files, by SHA-256: for the job, which is started with them.
    std::map<std::string, int> numbers() const;
    /// Once the job has been started.
    void close() { open_.clear(); }

    /// Once the job has ended: keep_staged() of the outputs that were stored, and of what it has fetched.
    void keep_for_later(const AttemptFolder& folder, const std::vector<StoredOutput>& outputs) const;

  private:
    const SupervisorOrder& order_;
    std::optional<InputCache> cache_; ///< none: the attempt has no part in it
    std::map<std::string, OpenFile> open_;
};

} // namespace fathom::agent
