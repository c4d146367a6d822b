#include "server/app/heap_trim.hpp"

#include "core/net/task_group.hpp"

#include <chrono>
#include <malloc.h>

namespace fathom::server {
namespace {

constexpr std::chrono::seconds kPeriod{15};

} // namespace

boost::asio::awaitable<void> trim_heap()
{
    for (;;) {
        co_await net::TaskGroup::sleep(kPeriod);
        ::malloc_trim(0); // looks at free pieces only: who allocates meanwhile waits for milliseconds at most
    }
}

} // namespace fathom::server
