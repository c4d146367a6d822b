#include "probes/profile/interposer/objects.hpp"

#include "probes/profile/interposer/locks.hpp"

#include <cstring>
#include <unistd.h>

namespace fathom::profile {
namespace {

constexpr std::size_t kMostObjects = 8192; // a power of two
constexpr std::size_t kMostSteps = 64;
constexpr std::uint64_t kFree = 0;
constexpr std::uint64_t kForgotten = 1;

struct Slot {
    std::uint64_t key;
    Object object;
};

constinit Slot g_slots[kMostObjects] = {};

std::size_t start_of(std::uint64_t key)
{
    return (key * 0x9e3779b97f4a7c15U) >> 40U;
}

Slot* find_slot(std::uint64_t key)
{
    for (std::size_t step = 0; step < kMostSteps; ++step) {
        Slot& slot = g_slots[(start_of(key) + step) % kMostObjects];
        if (slot.key == key) return &slot;
        if (slot.key == kFree) return nullptr;
    }
    return nullptr;
}

} // namespace

void remember_object(std::uint64_t key, const Object& object)
{
    if (key <= kForgotten) return;
    const SpinGuard guard(g_locks.objects);
    if (Slot* known = find_slot(key); known != nullptr) {
        known->object = object;
        return;
    }
    for (std::size_t step = 0; step < kMostSteps; ++step) {
        Slot& slot = g_slots[(start_of(key) + step) % kMostObjects];
        if (slot.key > kForgotten) continue;
        slot.object = object;
        slot.key = key; // last: a fork may come between
        return;
    }
}

void forget_object(std::uint64_t key)
{
    if (key <= kForgotten) return;
    const SpinGuard guard(g_locks.objects);
    if (Slot* slot = find_slot(key); slot != nullptr) slot->key = kForgotten;
}

bool find_object(std::uint64_t key, Object& object)
{
    if (key <= kForgotten) return false;
    const SpinGuard guard(g_locks.objects);
    const Slot* slot = find_slot(key);
    if (slot == nullptr) return false;
    object = slot->object;
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
