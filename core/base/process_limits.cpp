#include "core/base/process_limits.hpp"

#include <algorithm>
#include <cstddef>
#include <sys/prctl.h>
#include <sys/resource.h>

namespace fathom {
namespace {

constexpr rlim_t kMaxDescriptors = rlim_t{1} << 20U;

rlimit read_descriptor_limit()
{
    rlimit limit{1024, 1024};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    return limit;
}

std::size_t& limit_at_start()
{
    static std::size_t limit = read_descriptor_limit().rlim_cur;
    return limit;
}

} // namespace

std::size_t raise_descriptor_limit()
{
    const rlimit before = read_descriptor_limit();
    limit_at_start() = before.rlim_cur;
    set_descriptor_limit(std::max(before.rlim_cur, std::min(before.rlim_max, kMaxDescriptors)));
    return descriptor_limit();
}

std::size_t descriptor_limit()
{
    return read_descriptor_limit().rlim_cur;
}

std::size_t descriptor_limit_at_start()
{
    return limit_at_start();
}

void set_descriptor_limit(std::size_t descriptors)
{
    rlimit limit = read_descriptor_limit();
    limit.rlim_cur = std::min<rlim_t>(descriptors, limit.rlim_max);
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

void keep_memory_private()
{
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

} // namespace fathom
