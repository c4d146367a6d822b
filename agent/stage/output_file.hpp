#pragma once

#include "core/base/open_file.hpp"
#include "core/base/result.hpp"
#include "core/base/sha256.hpp"
#include "core/model/job_output.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace fathom::agent {

/// An output while it is read, as many bytes as it had when it was opened. Not thread-safe.
class OutputFile {
  public:
    /// @param work  the open working folder
    /// @error kInvalid  there is none, or it is no plain file.
    static Result<OutputFile> open(int work, const JobOutput& output);

    /// The next bytes; 0 at the end. Empty: problem() says why not.
    std::optional<std::size_t> read(std::span<char> block);
    /// From the beginning again; false: problem() says why not.
    bool restart();
    /// Whether all of it was read.
    bool is_complete() const { return read_bytes_ == size_bytes_; }
    /// What was read of it; once.
    StoredOutput summary();

    std::int64_t size_bytes() const { return size_bytes_; }
    const std::optional<Error>& problem() const { return problem_; }

  private:
    OutputFile(OpenFile file, std::string path, std::int64_t size_bytes)
        : file_(std::move(file)), path_(std::move(path)), size_bytes_(size_bytes)
    {
    }

    OpenFile file_;
    std::string path_;
    std::int64_t size_bytes_;
    std::int64_t read_bytes_ = 0;
    std::unique_ptr<Sha256> digest_ = std::make_unique<Sha256>();
    std::optional<Error> problem_;
};

} // namespace fathom::agent
