#include "probes/profile/interposer/objects.hpp"

#include "probes/profile/interposer/locks.hpp"
#include "probes/profile/interposer/memory_table.hpp"

#include <cstring>
#include <unistd.h>

namespace fathom::profile {
namespace {

constexpr std::size_t kObjectWords = sizeof(Object) / sizeof(std::uint64_t);
static_assert(sizeof(Object) % sizeof(std::uint64_t) == 0);
constinit MemoryTable<kObjectWords, 8192> g_objects = {};

} // namespace

void remember_object(std::uint64_t key, const Object& object)
{
    std::uint64_t words[kObjectWords];
    std::memcpy(words, &object, sizeof(object));
    const Guard guard(g_locks.objects);
    g_objects.put(key, words);
}

void forget_object(std::uint64_t key)
{
    const Guard guard(g_locks.objects);
    g_objects.forget(key);
}

bool find_object(std::uint64_t key, Object& object)
{
    std::uint64_t words[kObjectWords];
    if (!g_objects.find(key, words)) return false;
    std::memcpy(&object, words, sizeof(object));
    return true;
}

std::uint64_t number_key(std::uint64_t number)
{
    return (number & 0xffffffffU) | 1ULL << 63U;
}

void stop_for_missing(const char* name)
{
    const auto say = [](const char* text) {
        if (write(STDERR_FILENO, text, std::strlen(text)) < 0) return;
    };
    say("fathom-profile: symbol lookup error: undefined symbol: ");
    say(name);
    say("\n");
    _exit(127);
}

} // namespace fathom::profile
