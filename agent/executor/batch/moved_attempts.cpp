#include "agent/executor/batch/moved_attempts.hpp"

#include <cstdint>
#include <sys/eventfd.h>
#include <unistd.h>

namespace fathom::agent {

MovedAttempts::MovedAttempts() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void MovedAttempts::add(const AttemptId& id)
{
    moved_.insert(id);
    wake();
}

void MovedAttempts::wake() const
{
    const std::uint64_t one = 1;
    static_cast<void>(!::write(descriptor_.number(), &one, sizeof one));
}

void MovedAttempts::hush() const
{
    std::uint64_t count = 0;
    static_cast<void>(!::read(descriptor_.number(), &count, sizeof count));
}

} // namespace fathom::agent
