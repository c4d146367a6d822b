#include "agent/executor/local/file_lock.hpp"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

struct flock lock_of_whole_file()
{
    struct flock lock{};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    return lock;
}

} // namespace

bool take_lock(int fd)
{
    struct flock lock = lock_of_whole_file();
    return ::fcntl(fd, F_OFD_SETLK, &lock) == 0;
}

bool wait_for_lock(int fd)
{
    struct flock lock = lock_of_whole_file();
    int taken = -1;
    do {
        taken = ::fcntl(fd, F_OFD_SETLKW, &lock);
    } while (taken != 0 && errno == EINTR);
    return taken == 0;
}

bool is_locked(const std::filesystem::path& path)
{
    // For reading: whoever watches the folder would take the end of writing for news, and ask again.
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    struct flock lock = lock_of_whole_file();
    const bool known = ::fcntl(fd, F_OFD_GETLK, &lock) == 0;
    ::close(fd);
    return known && lock.l_type != F_UNLCK;
}

} // namespace fathom::agent
