#include "probes/operators/scratch_file.hpp"

#include "probes/operators/random.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <linux/magic.h>
#include <new>
#include <sys/statfs.h>
#include <unistd.h>
#include <utility>

namespace fathom::probes {
namespace {

constexpr std::size_t kRequest = 1UL << 20U;

/// The folder that the center names; empty: the working folder.
std::string named_folder()
{
    const char* const folder = std::getenv(kFileFolderVariable);
    return folder == nullptr ? "" : folder;
}

std::string folder_text(const std::string& folder)
{
    return folder.empty() ? "the working folder" : std::string(kFileFolderVariable) + " (" + folder + ")";
}

Error cannot(const std::string& what, const std::string& folder)
{
    return {Errc::kUnavailable, "cannot " + what + " in " + folder_text(folder) + ": " + std::strerror(errno)};
}

/// Opens a new file and takes its name away at once.
int open_nameless(const std::string& folder, int flags)
{
    std::string name = folder + (folder.empty() ? "" : "/") + ".fathom-probe-XXXXXX";
    const int file = mkostemp(name.data(), O_CLOEXEC | flags);
    if (file >= 0) unlink(name.c_str());
    return file;
}

struct FileSystem {
    std::uint64_t magic;
    const char* name;
};

// Lustre, XFS, GPFS and BeeGFS do not appear in the kernel's header.
constexpr std::array kFileSystems{
    FileSystem{EXT4_SUPER_MAGIC, "ext4"},   FileSystem{TMPFS_MAGIC, "tmpfs"},
    FileSystem{BTRFS_SUPER_MAGIC, "btrfs"}, FileSystem{OVERLAYFS_SUPER_MAGIC, "overlayfs"},
    FileSystem{NFS_SUPER_MAGIC, "nfs"},     FileSystem{0x58465342, "xfs"},
    FileSystem{0x0bd00bd0, "lustre"},       FileSystem{0x47504653, "gpfs"},
    FileSystem{0x19830326, "beegfs"},       FileSystem{0x2fc12fc1, "zfs"}};

std::string file_system_name(const struct statfs& facts)
{
    const auto magic = static_cast<std::uint32_t>(facts.f_type);
    const auto* const found = std::find_if(kFileSystems.begin(), kFileSystems.end(),
                                           [&](const FileSystem& known) { return known.magic == magic; });
    if (found != kFileSystems.end()) return found->name;
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "file system 0x%x", magic);
    return text.data();
}

/// Calls `move(offset, size)`, which answers as read and write do, until all is moved.
template <class Move>
bool move_all(std::size_t size, const Move& move)
{
    for (std::size_t offset = 0; offset < size;) {
        const ssize_t moved = move(offset, std::min(kRequest, size - offset));
        if (moved < 0 && errno == EINTR) continue;
        if (moved <= 0) return false;
        offset += static_cast<std::size_t>(moved);
    }
    return true;
}

} // namespace

ScratchFile::~ScratchFile()
{
    if (file_ >= 0) close(file_);
}

ScratchFile::ScratchFile(ScratchFile&& other) noexcept
    : file_(std::exchange(other.file_, -1)), is_direct_(other.is_direct_), file_system_(std::move(other.file_system_))
{
}

ScratchFile& ScratchFile::operator=(ScratchFile&& other) noexcept
{
    std::swap(file_, other.file_);
    std::swap(is_direct_, other.is_direct_);
    std::swap(file_system_, other.file_system_);
    return *this;
}

Result<ScratchFile> ScratchFile::create(std::size_t bytes)
{
    ScratchFile scratch;
    const std::string folder = named_folder();
    scratch.file_ = open_nameless(folder, O_DIRECT);
    scratch.is_direct_ = scratch.file_ >= 0;
    if (scratch.file_ < 0 && errno == EINVAL)
        scratch.file_ = open_nameless(folder, 0); // a file system without O_DIRECT
    if (scratch.file_ < 0) return cannot("make a file", folder);
    struct statfs facts{};
    if (fstatfs(scratch.file_, &facts) != 0) return cannot("see the free space", folder);
    const std::size_t free_mib =
        static_cast<std::size_t>(facts.f_bavail) * static_cast<std::size_t>(facts.f_bsize) >> 20U;
    const std::size_t needed_mib = (2 * bytes >> 20U) + 1;
    if (free_mib < needed_mib) {
        return Error{Errc::kUnavailable, folder_text(folder) + " has " + std::to_string(free_mib) +
                                             " MiB free; twice the file's size must be: " + std::to_string(needed_mib) +
                                             " MiB"};
    }
    scratch.file_system_ = file_system_name(facts) + (folder.empty() ? "" : ", in " + folder);
    return scratch;
}

bool ScratchFile::write(std::span<const std::byte> content)
{
    if (ftruncate(file_, 0) != 0) return false; // a program writes to a new file: finding room for it counts
    const bool written = move_all(content.size(), [&](std::size_t offset, std::size_t size) {
        return pwrite(file_, content.data() + offset, size, static_cast<off_t>(offset));
    });
    return written && fsync(file_) == 0;
}

bool ScratchFile::read(std::span<std::byte> content)
{
    if (!is_direct_) posix_fadvise(file_, 0, 0, POSIX_FADV_DONTNEED);
    return move_all(content.size(), [&](std::size_t offset, std::size_t size) {
        return pread(file_, content.data() + offset, size, static_cast<off_t>(offset));
    });
}

Mapping ScratchFile::map(std::size_t bytes) const
{
    return Mapping::of_file(file_, bytes);
}

std::string ScratchFile::description() const
{
    return (is_direct_ ? "O_DIRECT, " : "through the page cache, ") + file_system_;
}

void fill_content(std::span<std::byte> content, std::uint64_t seed)
{
    for (std::size_t i = 0; i < content.size() / sizeof(std::uint64_t); ++i) {
        const std::uint64_t word = random_bits(seed, i);
        std::memcpy(content.data() + i * sizeof(word), &word, sizeof(word));
    }
}

double content_error(std::span<const std::byte> content, std::uint64_t seed)
{
    const std::size_t words = content.size() / sizeof(std::uint64_t);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < words; ++i) {
        const std::uint64_t word = random_bits(seed, i);
        if (std::memcmp(content.data() + i * sizeof(word), &word, sizeof(word)) != 0) ++wrong;
    }
    return static_cast<double>(wrong) / static_cast<double>(words);
}

} // namespace fathom::probes
