// A program whose predecessors were all killed while they wrote an entry of the counts: profile_killed_writers PLUGIN.
// Prints how many entries its calls have given up.
#include "probes/profile/counts_file.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace fathom::profile; // NOLINT(google-build-using-namespace): a program of one file

namespace {

Counts* map_counts()
{
    const char* path = std::getenv(kCountsVariable); // NOLINT(concurrency-mt-unsafe): one thread
    const int fd = path != nullptr ? ::open(path, O_RDWR | O_CLOEXEC) : -1;
    void* memory = ::mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ::close(fd);
    return memory == MAP_FAILED ? nullptr : static_cast<Counts*>(memory);
}

} // namespace

int main(int argc, char** argv)
{
    Counts* counts = map_counts();
    void* plugin = argc > 1 ? ::dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
    if (counts == nullptr || plugin == nullptr) return 9;
    for (Entry& entry : counts->entries)
        entry.hash.store(kEntryBeingWritten);
    reinterpret_cast<double (*)(int)>(::dlsym(plugin, "plugin_dots"))(1000);
    const auto is_given_up = [](const Entry& entry) { return entry.hash.load() == kEntryGivenUp; };
    std::printf("%td\n", std::count_if(std::begin(counts->entries), std::end(counts->entries), is_given_up));
    return 0;
}
