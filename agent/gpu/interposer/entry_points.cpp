#include "agent/gpu/interposer/entry_points.hpp"

#include "agent/gpu/interposer/driver.hpp"

#include <algorithm>
#include <array>
#include <string_view>

// The functions themselves stand in other files; here only their addresses count.
#define FATHOM_WORK(name, words) extern "C" int name();
#define FATHOM_OWN(name) extern "C" int name();
#define FATHOM_PASSED(name, reason)
#include "agent/gpu/interposer/entry_points.def"
#undef FATHOM_WORK
#undef FATHOM_OWN

namespace fathom::gpu {
namespace {

struct Own {
    std::string_view name;
    void* function;
};

const std::array kUnsorted{
#define FATHOM_WORK(name, words) Own{#name, reinterpret_cast<void*>(&::name)},
#define FATHOM_OWN(name) Own{#name, reinterpret_cast<void*>(&::name)},
#include "agent/gpu/interposer/entry_points.def"
#undef FATHOM_WORK
#undef FATHOM_OWN
#undef FATHOM_PASSED
};

using All = std::array<Own, kUnsorted.size()>;

const All& own_by_name()
{
    static const All sorted = [] {
        All made = kUnsorted;
        std::sort(made.begin(), made.end(), [](const Own& a, const Own& b) { return a.name < b.name; });
        return made;
    }();
    return sorted;
}

struct Pair {
    void* of_driver;
    void* own;
};

/// Sorted by the driver's addresses.
const std::array<Pair, kUnsorted.size()>& pairs()
{
    static const std::array<Pair, kUnsorted.size()> sorted = [] {
        std::array<Pair, kUnsorted.size()> made{};
        for (std::size_t i = 0; i < kUnsorted.size(); ++i)
            made[i] = {driver_function(kUnsorted[i].name.data()), kUnsorted[i].function};
        std::sort(made.begin(), made.end(), [](const Pair& a, const Pair& b) { return a.of_driver < b.of_driver; });
        return made;
    }();
    return sorted;
}

} // namespace

void* own_function(const char* name)
{
    const std::string_view wanted(name);
    const All& all = own_by_name();
    const auto found = std::lower_bound(all.begin(), all.end(), wanted,
                                        [](const Own& one, std::string_view text) { return one.name < text; });
    return found != all.end() && found->name == wanted ? found->function : nullptr;
}

void* own_for(void* function)
{
    if (function == nullptr) return nullptr;
    const auto& all = pairs();
    const auto found = std::lower_bound(all.begin(), all.end(), function,
                                        [](const Pair& one, void* address) { return one.of_driver < address; });
    return found != all.end() && found->of_driver == function ? found->own : function;
}

} // namespace fathom::gpu
