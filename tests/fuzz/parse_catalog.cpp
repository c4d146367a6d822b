#include "core/model/center.hpp"
#include "tests/fuzz/fuzz_input.hpp"

/// Whatever a center offers, parse_catalog() answers; what it took is written and read again as the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const auto parse = [](const fathom::Json& json) { return fathom::parse_catalog(json); };
    const fathom::Result<fathom::Json> json = fathom::parse_json(fathom::fuzz::text_of(data, size));
    if (!json) return 0;
    const fathom::Result<fathom::Catalog> catalog = fathom::fuzz::check_document(*json, parse);
    if (!catalog) return 0;
    FATHOM_ASSERT(catalog->unit_types.size() <= 100);
    // Facts may hold anything; what the database cannot hold is refused where they are stored.
    for (const fathom::UnitTypeReport& type : catalog->unit_types)
        FATHOM_ASSERT(type.unit_count >= 0 && type.cores_per_unit >= 0 && type.memory_bytes_per_unit >= 0);
    return 0;
}
