#include "agent/executor/local/status_file.hpp"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

/// Any end without a profile, and most with one.
constexpr off_t kReservedBytes = 64 << 10;

} // namespace

StatusFile::StatusFile(const AttemptFolder& folder)
    : folder_(folder), reserved_(folder.status().string() + ".new"),
      file_(::open(reserved_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600))
{
    if (file_ < 0) return;
    const int error = ::posix_fallocate(file_, 0, kReservedBytes);
    has_space_ = error != ENOSPC && error != EDQUOT; // what cannot reserve may still have it
}

StatusFile::~StatusFile()
{
    if (file_ >= 0) ::close(file_);
}

bool StatusFile::write(const std::string& text)
{
    const auto size = static_cast<ssize_t>(text.size());
    if (file_ < 0 || ::pwrite(file_, text.data(), text.size(), 0) != size || ::ftruncate(file_, size) != 0)
        return false;
    if (!is_shown_ && ::rename(reserved_.c_str(), folder_.status().c_str()) != 0) return false;
    is_shown_ = true;
    if (::fsync(file_) != 0) return false;
    const int directory = ::open(folder_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return true; // it can be read; only a power failure could still take it
    static_cast<void>(::fsync(directory));
    ::close(directory);
    return true;
}

} // namespace fathom::agent
