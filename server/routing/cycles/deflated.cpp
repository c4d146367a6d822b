#include "server/routing/cycles/deflated.hpp"

#include <cstdint>
#include <zlib.h>

namespace fathom::server {
namespace {

constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 30U;

} // namespace

std::string deflated(std::string_view bytes)
{
    uLongf length = compressBound(bytes.size());
    std::string out(kLengthBytes + length, '\0');
    for (std::size_t i = 0; i < kLengthBytes; ++i)
        out[i] = static_cast<char>(static_cast<std::uint64_t>(bytes.size()) >> (8 * i));
    const int done = compress2(reinterpret_cast<Bytef*>(out.data() + kLengthBytes), &length,
                               reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), Z_BEST_SPEED);
    FATHOM_ASSERT(done == Z_OK); // the room suffices
    out.resize(kLengthBytes + length);
    return out;
}

Result<std::string> inflated(std::string_view bytes)
{
    const Error broken{Errc::kInternal, "what is stored of a cycle is broken"};
    if (bytes.size() < kLengthBytes) return broken;
    std::uint64_t size = 0;
    for (std::size_t i = 0; i < kLengthBytes; ++i)
        size |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
    if (size > kMaxBytes) return broken;
    std::string out(size, '\0');
    uLongf length = size;
    const int done =
        uncompress(reinterpret_cast<Bytef*>(out.data()), &length,
                   reinterpret_cast<const Bytef*>(bytes.data() + kLengthBytes), bytes.size() - kLengthBytes);
    if (done != Z_OK || length != size) return broken;
    return out;
}

} // namespace fathom::server
