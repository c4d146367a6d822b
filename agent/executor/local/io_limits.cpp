#include "agent/executor/local/io_limits.hpp"

#include "core/base/error_text.hpp"
#include "core/base/file.hpp"

#include <algorithm>
#include <cerrno>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

namespace fathom::agent {
namespace {

/// For people.
std::string file_system_name(const std::filesystem::path& folder)
{
    struct statfs facts{};
    if (::statfs(folder.c_str(), &facts) != 0) return "a file system";
    switch (static_cast<unsigned long>(facts.f_type)) {
    case BTRFS_SUPER_MAGIC:
        return "btrfs";
    case FUSE_SUPER_MAGIC:
        return "a FUSE file system";
    case NFS_SUPER_MAGIC:
        return "NFS";
    case OVERLAYFS_SUPER_MAGIC:
        return "overlay";
    case TMPFS_MAGIC:
        return "tmpfs";
    default:
        return "a file system";
    }
}

std::string limit_text(std::int64_t limit)
{
    return limit > 0 ? std::to_string(limit) : "max";
}

} // namespace

IoLimits scaled(IoLimits limits, std::int64_t processors)
{
    const std::int64_t factor = std::max<std::int64_t>(processors, 1);
    limits.read_bytes_per_s *= factor;
    limits.write_bytes_per_s *= factor;
    // Some kernels keep these in 32 bits, and cut off what is more.
    constexpr std::int64_t kMaxPerSecond = UINT32_MAX;
    limits.reads_per_s = std::min(limits.reads_per_s * factor, kMaxPerSecond);
    limits.writes_per_s = std::min(limits.writes_per_s * factor, kMaxPerSecond);
    return limits;
}

std::string io_max_line(const IoLimits& limits)
{
    return limits.device + " rbps=" + limit_text(limits.read_bytes_per_s) +
           " wbps=" + limit_text(limits.write_bytes_per_s) + " riops=" + limit_text(limits.reads_per_s) +
           " wiops=" + limit_text(limits.writes_per_s);
}

Result<std::string> disk_of(const std::filesystem::path& folder)
{
    struct stat facts{};
    if (::stat(folder.c_str(), &facts) != 0)
        return Error{Errc::kUnavailable, "cannot look at " + folder.string() + ": " + error_text(errno)};
    const unsigned major_number = major(facts.st_dev);
    if (major_number == 0)
        return Error{Errc::kNotFound,
                     folder.string() + " is on " + file_system_name(folder) + ", which has no block device of its own"};
    return whole_disk("/sys/dev/block", std::to_string(major_number) + ":" + std::to_string(minor(facts.st_dev)));
}

Result<std::string> whole_disk(const std::filesystem::path& devices, const std::string& device)
{
    std::error_code error;
    std::filesystem::path folder = std::filesystem::canonical(devices / device, error);
    if (error) return Error{Errc::kUnavailable, "nothing is known of block device " + device + ": " + error.message()};
    // A partition's folder lies in that of its disk.
    if (std::filesystem::exists(folder / "partition", error)) folder = folder.parent_path();
    Result<std::string> name = read_file(folder / "dev", 100);
    if (!name) return Error{Errc::kUnavailable, name.error().detail};
    while (name->ends_with('\n'))
        name->pop_back();
    return name;
}

} // namespace fathom::agent
