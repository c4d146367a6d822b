#include "probes/profile/interposer/call.hpp"

namespace fathom::profile {
namespace {

bool is_left(const Arguments& arguments, Interface interface, std::size_t at)
{
    constexpr std::uint32_t kCblasLeft = 141;
    constexpr std::uint32_t kCublasLeft = 0;
    if (arguments.is_fortran()) return (Arguments::read<char>(arguments.pointer(at)) | 0x20) == 'l';
    const bool is_cuda = interface == Interface::kCuda32 || interface == Interface::kCuda64;
    return static_cast<std::uint32_t>(arguments.word(at)) == (is_cuda ? kCublasLeft : kCblasLeft);
}

/// Whether a letter's argument takes a place among the integers and pointers.
bool takes_place(char letter, const SymbolInfo& info, bool is_fortran)
{
    const bool is_by_reference =
        is_fortran || info.interface == Interface::kCuda32 || info.interface == Interface::kCuda64;
    switch (letter) {
    case 'L':
        return !is_fortran;
    case 'x':
        return is_by_reference || info.element == 'c' || info.element == 'z';
    case 'y':
        return is_by_reference;
    default:
        return true;
    }
}

void add(const void* (&list)[3], const void* buffer)
{
    for (const void*& place : list) {
        if (place != nullptr) continue;
        place = buffer;
        return;
    }
}

} // namespace

bool decode_by_signature(const SymbolInfo& info, const CallFrame& frame, Call& call)
{
    const Arguments arguments(frame, info.interface);
    const bool has_query = arguments.is_fortran() || info.interface == Interface::kLapackeWork;
    std::size_t at = 0;
    std::size_t dimensions = 0;
    std::size_t side = SIZE_MAX;
    for (const char* letter = info.signature; *letter != '\0'; ++letter) {
        switch (*letter) {
        case 'm':
        case 'n':
        case 'k':
        case 'r':
        case 'b':
        case 'e':
            call.dimensions[dimensions++] = arguments.integer(at);
            break;
        case 's':
            side = at;
            break;
        case 'w':
            if (has_query && arguments.integer(at) == -1) return false;
            break;
        case 'A':
        case 'B':
            add(call.read, arguments.pointer(at));
            break;
        case 'D':
            add(call.read, arguments.pointer(at));
            [[fallthrough]];
        case 'C':
            call.written[call.written[0] == nullptr ? 0 : 1] = arguments.pointer(at);
            break;
        default:
            break;
        }
        if (takes_place(*letter, info, arguments.is_fortran())) ++at;
    }
    if (side != SIZE_MAX) // the triangle's order: m on the left, n on the right
        call.dimensions[dimensions] = call.dimensions[is_left(arguments, info.interface, side) ? 0 : 1];
    return true;
}

} // namespace fathom::profile
