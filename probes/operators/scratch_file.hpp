#pragma once

#include "core/base/result.hpp"
#include "probes/operators/mapping.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace fathom::probes {

/// Names the folder that files are made in, such as one of the parallel file system where the data of jobs lie; where
/// it is not set or empty, the working folder.
inline constexpr const char* kFileFolderVariable = "FATHOM_FILE_FOLDER";

/// A file in that folder that has no name: nothing is left of it, however the process ends.
///
/// Moved in requests of 1 MiB past the system's page cache where the file system can do that (O_DIRECT), for
/// otherwise memory would be measured; where it cannot, through the cache, which is emptied before reading.
/// Not thread-safe.
class ScratchFile {
  public:
    ScratchFile() = default;
    ~ScratchFile();
    ScratchFile(ScratchFile&& other) noexcept;
    ScratchFile& operator=(ScratchFile&& other) noexcept;
    ScratchFile(const ScratchFile&) = delete;
    ScratchFile& operator=(const ScratchFile&) = delete;

    /// @error kUnavailable  the folder cannot be written to, or has less than twice `bytes` free.
    static Result<ScratchFile> create(std::size_t bytes);

    /// Writes the file anew, and waits until the device has it. False when the system fails.
    bool write(std::span<const std::byte> content);

    /// Reads from the beginning. False when the system fails or the file is shorter.
    bool read(std::span<std::byte> content);

    /// The file's content in memory: writes change the file.
    Mapping map(std::size_t bytes) const;

    /// "O_DIRECT, ext4"; with the folder's name where one was set
    std::string description() const;

  private:
    int file_ = -1;
    bool is_direct_ = false;
    std::string file_system_;
};

/// Contents move in whole blocks of this size, from memory on whole pages.
constexpr std::size_t kFileBlock = 4096;

/// Size of a file that holds at least `bytes`.
constexpr std::size_t whole_blocks(std::size_t bytes)
{
    return (bytes + kFileBlock - 1) / kFileBlock * kFileBlock;
}

/// What the file operators write: random words by position.
void fill_content(std::span<std::byte> content, std::uint64_t seed);

/// The share of words that differ from fill_content's.
double content_error(std::span<const std::byte> content, std::uint64_t seed);

} // namespace fathom::probes
