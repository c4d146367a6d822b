#include "agent/config/cpu_list.hpp"
#include "tests/fuzz/fuzz_input.hpp"

/// Whatever stands for processors, parse_cpu_list() answers; what it took is written and read again as the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const fathom::Result<std::vector<std::int64_t>> cpus =
        fathom::agent::parse_cpu_list(fathom::fuzz::text_of(data, size));
    if (!cpus) {
        fathom::fuzz::check_refusal(cpus.error());
        return 0;
    }
    for (std::size_t i = 0; i < cpus->size(); ++i)
        FATHOM_ASSERT((*cpus)[i] >= 0 && (*cpus)[i] <= 65535 && (i == 0 || (*cpus)[i - 1] < (*cpus)[i]));
    FATHOM_ASSERT(fathom::agent::parse_cpu_list(fathom::agent::format_cpu_list(*cpus)).value() == *cpus);
    return 0;
}
