#include "core/model/operator_package.hpp"

#include <cstddef>
#include <cstdint>

/// Whatever arrives, parse_operator_package_text() answers; what it took can be written and read again, and nobody's
/// key has signed it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const fathom::Result<fathom::OperatorPackage> package =
        fathom::parse_operator_package_text({reinterpret_cast<const char*>(data), size});
    if (!package) return 0;
    FATHOM_ASSERT(fathom::parse_operator_package(to_json(*package)).has_value());
    const fathom::PublicKey key{};
    FATHOM_ASSERT(!fathom::verify_operator_package(*package, {&key, 1}));
    return 0;
}
