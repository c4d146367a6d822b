#include "cli/operators/operator_argument.hpp"
#include "tests/fuzz/fuzz_input.hpp"

/// Whatever is given as operators, parse_operator_arguments() answers with what a job or a probe may have.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text = fathom::fuzz::text_of(data, size);
    const auto uses = fathom::cli::parse_operator_arguments(text, fathom::cli::OperatorCount::kOptional);
    const auto counted = fathom::cli::parse_operator_arguments(text, fathom::cli::OperatorCount::kRequired);
    FATHOM_ASSERT(!counted || uses);
    if (!uses) {
        FATHOM_ASSERT(uses.error().code == fathom::Errc::kInvalid && !uses.error().detail.empty());
        return 0;
    }
    FATHOM_ASSERT(!uses->empty());
    for (const fathom::OperatorUse& use : *uses) {
        FATHOM_ASSERT(!use.id.empty() && use.id.size() <= 64);
        FATHOM_ASSERT(use.count >= 1 && use.count <= 1'000'000'000'000);
    }
    return 0;
}
