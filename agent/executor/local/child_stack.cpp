#include "agent/executor/local/child_stack.hpp"

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

constexpr std::size_t kBytes = 1UL << 20U;

#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || __has_feature(address_sanitizer) ||               \
    __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif

} // namespace

bool may_share_memory()
{
    return !kIsSanitized && ::geteuid() == 0;
}

ChildStack::ChildStack()
    : memory_(::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE,
                     -1, 0))
{
}

ChildStack::~ChildStack()
{
    if (memory_ != MAP_FAILED) ::munmap(memory_, kBytes);
}

pid_t ChildStack::start(int flags, int (*body)(void*), void* argument) const
{
    if (memory_ == MAP_FAILED) {
        errno = ENOMEM;
        return -1;
    }
    return ::clone(body, static_cast<std::byte*>(memory_) + kBytes, flags | SIGCHLD, argument); // it grows downwards
}

} // namespace fathom::agent
