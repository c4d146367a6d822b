// A program of its own: heaps that others have made would count.

#include "server/app/heap_trim.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <malloc.h>
#include <string>
#include <thread>
#include <vector>

namespace fathom::server {
namespace {

std::size_t count_heaps()
{
    char* text = nullptr;
    std::size_t size = 0;
    std::FILE* const file = ::open_memstream(&text, &size);
    if (file == nullptr) return 0;
    ::malloc_info(0, file);
    std::fclose(file);
    const std::string info(text, size);
    std::free(text); // NOLINT(cppcoreguidelines-no-malloc): open_memstream's
    std::size_t heaps = 0;
    for (std::size_t at = info.find("<heap nr"); at != std::string::npos; at = info.find("<heap nr", at + 1))
        ++heaps;
    return heaps;
}

TEST(HeapTrim, ThreadsShareAsManyHeapsAsThereAreCores)
{
    limit_heaps();
    const unsigned cores = std::max(2U, std::thread::hardware_concurrency());
    const std::ptrdiff_t threads = 4 * static_cast<std::ptrdiff_t>(cores);
    std::barrier all_have_some(threads);
    std::vector<std::thread> running;
    for (std::ptrdiff_t i = 0; i < threads; ++i) {
        running.emplace_back([&] {
            const std::vector<char> some(1000);
            all_have_some.arrive_and_wait();
        });
    }
    for (std::thread& thread : running)
        thread.join();

    EXPECT_LE(count_heaps(), cores);
}

} // namespace
} // namespace fathom::server
