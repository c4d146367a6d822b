#pragma once

namespace fathom::profile {

/// A program that says `if (cblas_dgemm)` of a weak symbol asks whether some library has it. The loader has answered
/// with our stub. This puts null in its place wherever no library has the symbol, in everything that was loaded at the
/// start. Call once, before the program's own code runs.
void clear_weak_references();

/// Whether an address belongs to the program or to a library that was loaded at the start, so that what it can reach by
/// name is the global scope and nothing else. Known after clear_weak_references().
bool was_loaded_at_start(const void* address);

} // namespace fathom::profile
