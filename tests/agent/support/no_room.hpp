#pragma once

#include <csignal>
#include <stdexcept>
#include <sys/resource.h>

namespace fathom::agent::test {

/// As on a full disk, for all users: no file of this process can grow, or be written beyond its beginning, as long as
/// this lives.
class NoRoom {
  public:
    NoRoom() : signal_before_(std::signal(SIGXFSZ, SIG_IGN))
    {
        if (::getrlimit(RLIMIT_FSIZE, &before_) != 0) throw std::runtime_error("getrlimit");
        set({0, before_.rlim_max});
    }
    ~NoRoom()
    {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, signal_before_);
    }
    NoRoom(const NoRoom&) = delete;
    NoRoom& operator=(const NoRoom&) = delete;

  private:
    static void set(const rlimit& limit)
    {
        if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) throw std::runtime_error("setrlimit");
    }

    void (*signal_before_)(int);
    rlimit before_{};
};

} // namespace fathom::agent::test
