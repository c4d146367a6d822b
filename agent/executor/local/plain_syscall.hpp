#pragma once

#include <cerrno>
#include <cstdint>
#include <unistd.h>

namespace fathom::agent {

/// Whether plain_syscall() does without the C library here.
inline constexpr bool kHasPlainSyscall =
#if defined(__x86_64__) || defined(__aarch64__)
    true;
#else
    false;
#endif

/// A system call without the C library, which keeps errno for each thread: a process that shares another one's memory
/// while that runs must not touch it.
/// @return what the kernel returned: an error as a negative number.
inline long plain_syscall(long number, std::intptr_t a = 0, std::intptr_t b = 0, std::intptr_t c = 0,
                          std::intptr_t d = 0, std::intptr_t e = 0)
{
#if defined(__x86_64__)
    long result = number;
    register std::intptr_t fourth asm("r10") = d;
    register std::intptr_t fifth asm("r8") = e;
    asm volatile("syscall" : "+a"(result) : "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth) : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long result asm("x8") = number;
    register std::intptr_t first asm("x0") = a;
    register std::intptr_t second asm("x1") = b;
    register std::intptr_t third asm("x2") = c;
    register std::intptr_t fourth asm("x3") = d;
    register std::intptr_t fifth asm("x4") = e;
    asm volatile("svc 0" : "+r"(first) : "r"(result), "r"(second), "r"(third), "r"(fourth), "r"(fifth) : "memory");
    return first;
#else
    const long result = ::syscall(number, a, b, c, d, e);
    return result < 0 ? -errno : result;
#endif
}

/// As plain_syscall() takes it.
inline std::intptr_t syscall_address(const void* object)
{
    return reinterpret_cast<std::intptr_t>(object);
}

} // namespace fathom::agent
