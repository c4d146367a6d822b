#include "simulator/world/centers_file.hpp"
#include "simulator/world/centers_file_write.hpp"
#include "tests/fuzz/fuzz_input.hpp"

/// Whatever describes a network, parse_centers() reads it; what it took is written and read again as the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const fathom::Result<fathom::Json> json = fathom::parse_json(fathom::fuzz::text_of(data, size));
    if (!json) return 0;
    const auto file = fathom::fuzz::check_document(*json, fathom::simulation::parse_centers);
    if (!file) return 0;
    const fathom::simulation::Network& network = file->network;
    FATHOM_ASSERT(file->tells_scaling.size() == network.job_types.size());
    FATHOM_ASSERT(file->other_rates.size() == network.unit_types.size());
    for (const fathom::simulation::UnitType& type : network.unit_types) {
        FATHOM_ASSERT(type.center < network.centers.size() && type.unit_count >= 1);
        FATHOM_ASSERT(type.rates.size() == network.job_types.size());
    }
    return 0;
}
