#include "agent/stage/output_file.hpp"

#include "core/base/error_text.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fathom::agent {

Result<OutputFile> OutputFile::open(int work, const JobOutput& output)
{
    OpenFile file(::openat(work, output.path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (file.number() < 0) return Error{Errc::kInvalid, "it cannot be opened: " + error_text(errno)};
    struct stat facts{};
    if (::fstat(file.number(), &facts) != 0 || !S_ISREG(facts.st_mode))
        return Error{Errc::kInvalid, "it is not a plain file"};
    return OutputFile(std::move(file), output.path, facts.st_size);
}

std::optional<std::size_t> OutputFile::read(std::span<char> block)
{
    const auto wanted = std::min<std::int64_t>(std::ssize(block), size_bytes_ - read_bytes_);
    if (wanted <= 0) return 0;
    ssize_t size = -1;
    do {
        size = ::read(file_.number(), block.data(), static_cast<std::size_t>(wanted));
    } while (size < 0 && errno == EINTR);
    if (size <= 0) {
        problem_ = size < 0 ? Error{Errc::kUnavailable, "it cannot be read: " + error_text(errno)}
                            : Error{Errc::kInvalid, "it became shorter while it was stored"};
        return std::nullopt;
    }
    digest_->add({block.data(), static_cast<std::size_t>(size)});
    read_bytes_ += size;
    return static_cast<std::size_t>(size);
}

bool OutputFile::restart()
{
    if (::lseek(file_.number(), 0, SEEK_SET) != 0) {
        problem_ = Error{Errc::kUnavailable, "it cannot be read: " + error_text(errno)};
        return false;
    }
    digest_ = std::make_unique<Sha256>();
    read_bytes_ = 0;
    return true;
}

StoredOutput OutputFile::summary()
{
    return {.path = path_, .size_bytes = read_bytes_, .sha256 = digest_->hex()};
}

} // namespace fathom::agent
