#include "agent/executor/local/attempt_folder.hpp"
#include "tests/fuzz/fuzz_input.hpp"

/// Whatever is left of the files of an attempt, they are read or not.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text = fathom::fuzz::text_of(data, size);
    if (const std::optional<fathom::Timestamp> time = fathom::agent::decode_running(text))
        FATHOM_ASSERT(fathom::agent::decode_running(fathom::agent::encode_running(*time)) == time);
    if (const std::optional<fathom::agent::ProcessName> process = fathom::agent::decode_supervisor(text)) {
        FATHOM_ASSERT(process->pid > 0 && process->start_ticks >= 0);
        const auto again = fathom::agent::decode_supervisor(fathom::agent::encode_supervisor(*process));
        FATHOM_ASSERT(again && again->pid == process->pid && again->start_ticks == process->start_ticks);
    }
    if (const std::optional<fathom::AttemptEnd> end = fathom::agent::decode_status(text))
        FATHOM_ASSERT(end->run_s >= 0 && end->cpu_s >= 0);
    return 0;
}
