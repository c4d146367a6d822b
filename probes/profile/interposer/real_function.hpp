#pragma once

#include <cstddef>

namespace fathom::profile {

/// The function that the caller would have reached without us: the next one in the order of loading, else the
/// one that the caller's own library was linked with (a library loaded with RTLD_LOCAL is in no global order).
/// Remembered for each caller. Keeps errno. @return null when no loaded library has it.
void* find_real(std::size_t symbol, const void* caller);

/// The same for any name, not remembered.
void* find_real_by_name(const char* name, const void* caller);

/// In a forked child: what the loader holds locked there stays locked, and must not be waited for.
void begin_child_lookups();

/// dlsym() without us.
void* look_up(void* handle, const char* name);

/// Whether both addresses lie in the same loaded library.
bool are_of_one_library(const void* a, const void* b);

/// True for a function of the interposer itself.
bool is_ours(const void* function);

} // namespace fathom::profile
