#include "core/model/operator_manifest.hpp"
#include "tests/fuzz/fuzz_input.hpp"

/// Whatever arrives, parse_operator_manifest() answers; what it took is written and read again as the same, and has
/// work to do.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const fathom::Result<fathom::Json> json = fathom::parse_json(fathom::fuzz::text_of(data, size));
    if (!json) return 0;
    const fathom::Result<fathom::OperatorManifest> manifest =
        fathom::fuzz::check_document(*json, fathom::parse_operator_manifest);
    if (!manifest) return 0;
    const fathom::Parameters defaults = manifest->default_parameters();
    FATHOM_ASSERT(fathom::work_of(*manifest, defaults) >= 1);
    FATHOM_ASSERT((fathom::size_class_of(*manifest, defaults) == nullptr) == manifest->size_classes.empty());
    std::vector<fathom::FieldError> errors;
    FATHOM_ASSERT(fathom::complete_parameters(*manifest, {}, "", errors) == defaults && errors.empty());
    return 0;
}
