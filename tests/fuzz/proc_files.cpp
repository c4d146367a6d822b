#include "probes/runner/proc_files.hpp"

#include "probes/runner/process_times.hpp"
#include "tests/fuzz/fuzz_input.hpp"

/// Whatever the kernel's files hold, what is read of them lies in them.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text = fathom::fuzz::text_of(data, size);
    const std::string value = fathom::probes::proc_value(text, "MemTotal");
    FATHOM_ASSERT(text.find(value) != std::string_view::npos && value.find('\n') == std::string::npos);
    FATHOM_ASSERT(value.empty() || text.find("MemTotal") != std::string_view::npos);
    const std::optional<double> number = fathom::probes::leading_number(text);
    FATHOM_ASSERT(!number || !text.empty());
    const fathom::probes::ProcessorTimes none = fathom::probes::processor_times(text, {});
    FATHOM_ASSERT(none.busy_s == 0 && none.stolen_s == 0);
    static_cast<void>(fathom::probes::processor_times(text, {0, 1, 63}));
    return 0;
}
