#pragma once

#include "agent/stage/staging_progress.hpp"
#include "core/base/open_file.hpp"
#include "core/base/result.hpp"
#include "core/base/sha256.hpp"
#include "core/model/job_input.hpp"

#include <memory>
#include <optional>

namespace fathom::agent {

/// A file in a job's working folder while it is filled. Not thread-safe.
class StagedFile {
  public:
    /// @param work   the open working folder
    /// @param input  must outlive this
    /// @error kInvalid      something stands there, or a part of the path is no folder.
    /// @error kUnavailable  it cannot be made.
    static Result<StagedFile> make(int work, const JobInput& input);

    /// From now on it tells how many bytes it has, each time that it takes some.
    /// @param progress  must outlive this
    void tell(StagingProgress& progress) { progress_ = &progress; }

    /// Takes the next bytes; false: problem() says why not.
    bool add(std::string_view data);
    /// Forgets all bytes, and what was wrong with them; false: problem() says why not.
    bool restart();
    /// Whether what was declared of it is so, once all bytes are there. Once, until restart().
    /// @error kInvalid  it is not.
    Result<void> check();

    std::int64_t bytes() const { return bytes_; }
    const std::optional<Error>& problem() const { return problem_; }

  private:
    StagedFile(OpenFile file, const JobInput& input) : file_(std::move(file)), input_(&input) {}

    OpenFile file_;
    const JobInput* input_;
    StagingProgress* progress_ = nullptr;
    std::unique_ptr<Sha256> digest_ = std::make_unique<Sha256>();
    std::int64_t bytes_ = 0;
    std::optional<Error> problem_;
};

} // namespace fathom::agent
