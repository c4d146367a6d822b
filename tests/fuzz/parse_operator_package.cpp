#include "core/model/operator_package.hpp"
#include "tests/fuzz/fuzz_input.hpp"

/// Whatever arrives, parse_operator_package_text() answers; what it took is written and read again as the same, and
/// nobody's key has signed it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text = fathom::fuzz::text_of(data, size);
    const fathom::Result<fathom::OperatorPackage> package = fathom::parse_operator_package_text(text);
    if (!package) {
        fathom::fuzz::check_refusal(package.error());
        return 0;
    }
    fathom::fuzz::check_document(to_json(*package), fathom::parse_operator_package);
    FATHOM_ASSERT(fathom::machine_of_object(package->object).has_value());
    const fathom::PublicKey key{};
    FATHOM_ASSERT(!fathom::verify_operator_package(*package, {&key, 1}));
    return 0;
}
