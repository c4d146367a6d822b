#include "core/model/formula.hpp"
#include "tests/fuzz/fuzz_input.hpp"

#include <cmath>

/// Whatever formula a manifest has, evaluate_formula() answers with a finite number, and the same when asked again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const fathom::Parameters parameters{{"k", 512}, {"m", 1}, {"n", 1LL << 40U}};
    const std::string formula(fathom::fuzz::text_of(data, size));
    const fathom::Result<double> value = fathom::evaluate_formula(formula, parameters);
    if (!value) {
        fathom::fuzz::check_refusal(value.error());
        FATHOM_ASSERT(fathom::formula_value(formula, parameters) == 0);
        return 0;
    }
    FATHOM_ASSERT(std::isfinite(*value) && fathom::formula_value(formula, parameters) == *value);
    return 0;
}
