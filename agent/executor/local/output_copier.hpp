#pragma once

#include <cstdint>
#include <filesystem>

namespace fathom::agent {

/// Copies what a job writes from a pipe to a file, up to a limit; the rest is counted and dropped, so
/// that the job neither blocks nor fills the disk. Not thread-safe.
class OutputCopier {
  public:
    /// Takes over `source`, a pipe that does not block. Makes the file, mode 0600.
    OutputCopier(int source, const std::filesystem::path& target, std::int64_t limit_bytes);
    ~OutputCopier();
    OutputCopier(const OutputCopier&) = delete;
    OutputCopier& operator=(const OutputCopier&) = delete;

    /// The pipe, to wait for; -1 after its end.
    int source() const { return source_; }
    /// Copies what is there now, at most `rounds` blocks of 64 KiB.
    void copy(int rounds);
    /// Flushes the file to disk.
    void flush();

    std::int64_t written_bytes() const { return written_bytes_; } ///< by the job, in all
    bool disk_failed() const { return disk_failed_; }             ///< some output was lost to a full disk, say

  private:
    void keep(const char* data, std::size_t size);

    int source_;
    int target_;
    std::int64_t limit_bytes_;
    std::int64_t kept_bytes_{};
    std::int64_t written_bytes_{};
    bool disk_failed_{};
};

} // namespace fathom::agent
