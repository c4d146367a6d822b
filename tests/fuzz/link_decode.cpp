#include "schema/link/messages.hpp"
#include "tests/fuzz/fuzz_input.hpp"

/// Whatever arrives, decode() answers; what it took is written and read again as the same, and what it refused is
/// refused well.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const auto decoded = fathom::link::decode(fathom::fuzz::text_of(data, size));
    if (const auto* failure = std::get_if<fathom::link::DecodeFailure>(&decoded)) {
        fathom::fuzz::check_refusal(failure->error);
        return 0;
    }
    const auto& message = std::get<fathom::link::Message>(decoded);
    const std::string written = fathom::link::encode(message);
    const auto again = fathom::link::decode(written);
    FATHOM_ASSERT(std::holds_alternative<fathom::link::Message>(again));
    FATHOM_ASSERT(fathom::link::encode(std::get<fathom::link::Message>(again)) == written);
    if (const auto* started = std::get_if<fathom::link::AttemptStarted>(&message.body)) {
        for (const std::int64_t cpu : started->cpus)
            FATHOM_ASSERT(cpu >= 0);
        for (const std::int64_t unit : started->units)
            FATHOM_ASSERT(unit >= 0);
    }
    return 0;
}
