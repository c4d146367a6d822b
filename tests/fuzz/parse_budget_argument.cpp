#include "cli/text/choice_argument.hpp"
#include "core/model/money.hpp"
#include "tests/fuzz/fuzz_input.hpp"

/// Whatever is given as a budget or a preference, what the flag's parser takes the job's parser reads or refuses.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string text(fathom::fuzz::text_of(data, size));
    if (const fathom::Result<fathom::Json> budget = fathom::cli::parse_budget_argument(text)) {
        std::vector<fathom::FieldError> errors;
        const fathom::Money money = fathom::parse_money(*budget, "budget", errors);
        FATHOM_ASSERT(!errors.empty() || (money.micros >= 0 && money.currency.size() == 3));
    }
    const fathom::Json preference = fathom::cli::preference_of_argument(text);
    FATHOM_ASSERT(preference.is_string() || preference.is_object());
    return 0;
}
