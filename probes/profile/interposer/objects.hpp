#pragma once

#include <cstddef>
#include <cstdint>

/// Plans, handles and descriptors of libraries, whose sizes were arguments when they were made and are needed when
/// they are used.
namespace fathom::profile {

inline constexpr std::size_t kMaxObjectSizes = 8;

/// What is remembered of one.
struct Object {
    std::int64_t sizes[kMaxObjectSizes];
    const void* input; ///< the buffers that it was made for, or null
    const void* output;
};

/// Keys are addresses, or small numbers (`number_key`). An older object of the same key is replaced. When there
/// is no room it is not remembered: its use is counted with unknown sizes.
void remember_object(std::uint64_t key, const Object& object);
void forget_object(std::uint64_t key);
/// @return whether it is known.
bool find_object(std::uint64_t key, Object& object);

/// For libraries whose handles are small integers.
std::uint64_t number_key(std::uint64_t number);

/// Ends the process as the loader does when a function does not exist.
[[noreturn]] void stop_for_missing(const char* name);

} // namespace fathom::profile
