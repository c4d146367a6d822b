#pragma once

#include "core/base/open_file.hpp"
#include "core/base/result.hpp"
#include "core/base/sha256.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace fathom {

/// A file that cannot be written, which another try would not change: kInvalid.
/// @param number  as errno
Error not_written(int number);

/// What has come of a file so far, with its digest. Not thread-safe.
class PartFile {
  public:
    /// @param file  open for reading and writing, at its begin
    PartFile(OpenFile file, std::int64_t size_bytes) : file_(std::move(file)), size_bytes_(size_bytes) {}

    std::int64_t bytes() const { return bytes_; }
    int number() const { return file_.number(); }
    /// Set where one of the functions below returned false.
    const std::optional<Error>& problem() const { return problem_; }

    /// What an earlier call has left, as far as it can be of this file.
    bool read_earlier();
    bool add(std::string_view data);
    /// From the beginning again.
    bool restart();
    /// 64 lower-case hex digits of all that is there; once.
    std::string sha256() { return digest_->hex(); }

  private:
    OpenFile file_;
    std::int64_t size_bytes_;
    std::int64_t bytes_ = 0;
    std::unique_ptr<Sha256> digest_ = std::make_unique<Sha256>();
    std::optional<Error> problem_;
};

} // namespace fathom
