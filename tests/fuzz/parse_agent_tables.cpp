#include "agent/config/agent_config.hpp"
#include "tests/fuzz/fuzz_input.hpp"

/// Whatever stands in an agent's settings, parse_agent_tables() answers, with what units can be cut by.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const fathom::Result<fathom::agent::AgentTables> tables =
        fathom::agent::parse_agent_tables(std::string(fathom::fuzz::text_of(data, size)));
    if (!tables) {
        FATHOM_ASSERT(tables.error().code == fathom::Errc::kInvalid);
        return 0;
    }
    for (const fathom::UnitCut& cut : tables->unit_types)
        FATHOM_ASSERT(!cut.name.empty() && cut.cores_per_unit >= 0 && cut.unit_count >= 0 &&
                      cut.memory_bytes_per_unit >= 0);
    return 0;
}
