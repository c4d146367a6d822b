// AddressSanitizer's shared runtime ends a program when another library was loaded before it. fathom-profile loads
// nothing into such a program, but a child of a profiled program inherits the preload, and must run nevertheless. The
// runtime asks for this function before it looks; a program that has one of its own is asked instead. Only the check of
// the order is turned off: what it guards against is a library that replaces the allocator, and we replace nothing that
// the runtime does.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options(); // NOLINT: the runtime's name

const char* __asan_default_options() // NOLINT: the runtime's name
{
    return "verify_asan_link_order=0";
}
