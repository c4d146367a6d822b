#include "tests/fuzz/memory_file.hpp"
#include "tests/fuzz/workload_checks.hpp"

/// Whatever a list of nodes holds, read_alibaba_nodes() reads a network, or refuses it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static fathom::fuzz::MemoryFile file;
    file.hold(fathom::fuzz::text_of(data, size));
    const fathom::Result<fathom::simulation::Network> network = fathom::simulation::read_alibaba_nodes(file.path());
    if (!network) {
        FATHOM_ASSERT(network.error().code == fathom::Errc::kInvalid && !network.error().detail.empty());
        return 0;
    }
    FATHOM_ASSERT(!network->centers.empty());
    for (const fathom::simulation::UnitType& type : network->unit_types)
        FATHOM_ASSERT(type.unit_count >= 1 && type.center < network->centers.size());
    return 0;
}
