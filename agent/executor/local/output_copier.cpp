#include "agent/executor/local/output_copier.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace fathom::agent {

OutputCopier::OutputCopier(int source, const std::filesystem::path& target, std::int64_t limit_bytes)
    : source_(source), target_(::open(target.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)),
      limit_bytes_(limit_bytes), disk_failed_(target_ < 0)
{
}

OutputCopier::~OutputCopier()
{
    if (source_ >= 0) ::close(source_);
    if (target_ >= 0) ::close(target_);
}

void OutputCopier::copy(int rounds)
{
    std::array<char, 65536> block; // NOLINT(cppcoreguidelines-pro-type-member-init): filled by read()
    for (; source_ >= 0 && rounds > 0; --rounds) {
        const ssize_t size = ::read(source_, block.data(), block.size());
        if (size < 0 && errno == EINTR) continue;
        if (size < 0 && errno == EAGAIN) return;
        if (size <= 0) {
            ::close(source_);
            source_ = -1;
            return;
        }
        written_bytes_ += size;
        keep(block.data(), static_cast<std::size_t>(size));
    }
}

void OutputCopier::keep(const char* data, std::size_t size)
{
    std::size_t left = std::min(size, static_cast<std::size_t>(std::max<std::int64_t>(0, limit_bytes_ - kept_bytes_)));
    while (left > 0 && !disk_failed_) {
        const ssize_t written = ::write(target_, data, left);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) {
            disk_failed_ = true; // a gap would make later offsets lie: keep nothing more
            return;
        }
        data += written;
        left -= static_cast<std::size_t>(written);
        kept_bytes_ += written;
    }
}

void OutputCopier::flush()
{
    if (target_ >= 0 && kept_bytes_ > 0 && ::fsync(target_) != 0) disk_failed_ = true;
}

} // namespace fathom::agent
