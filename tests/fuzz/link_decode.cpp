#include "schema/link/messages.hpp"

#include <cstddef>
#include <cstdint>

/// Whatever arrives, decode() answers; and what it took can be written and read again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto decoded = fathom::link::decode(text);
    if (const auto* message = std::get_if<fathom::link::Message>(&decoded)) {
        const auto again = fathom::link::decode(fathom::link::encode(*message));
        FATHOM_ASSERT(std::holds_alternative<fathom::link::Message>(again));
    }
    return 0;
}
