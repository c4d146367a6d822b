#include "server/app/heap_trim.hpp"

#include "core/net/task_group.hpp"

#include <algorithm>
#include <chrono>
#include <malloc.h>
#include <thread>

namespace fathom::server {
namespace {

constexpr std::chrono::seconds kPeriod{15};

} // namespace

void limit_heaps()
{
    // Where it is refused the heaps are as many as always.
    static_cast<void>(::mallopt(M_ARENA_MAX, static_cast<int>(std::max(2U, std::thread::hardware_concurrency()))));
}

boost::asio::awaitable<void> trim_heap()
{
    for (;;) {
        co_await net::TaskGroup::sleep(kPeriod);
        ::malloc_trim(0); // looks at free pieces only: who allocates meanwhile waits for milliseconds at most
    }
}

} // namespace fathom::server
