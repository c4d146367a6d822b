#include "core/model/price_book.hpp"
#include "tests/fuzz/fuzz_input.hpp"

#include <algorithm>

/// Whatever arrives, parse_price_book() answers; what it took is written and read again as the same, in order, and no
/// hour has a negative price.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const fathom::Result<fathom::Json> json = fathom::parse_json(fathom::fuzz::text_of(data, size));
    if (!json) return 0;
    const fathom::Result<fathom::PriceBook> book = fathom::fuzz::check_document(*json, fathom::parse_price_book);
    if (!book) return 0;
    for (std::size_t i = 0; i < book->entries.size(); ++i) {
        const fathom::PriceEntry& entry = book->entries[i];
        const auto place = [](const fathom::PriceEntry& one) { return std::pair(one.center, one.unit_type); };
        FATHOM_ASSERT(i == 0 || place(book->entries[i - 1]) < place(entry));
        FATHOM_ASSERT(fathom::find_price(*book, entry.center, entry.unit_type) == &entry);
        const auto hours = fathom::hourly_prices(entry);
        FATHOM_ASSERT(std::all_of(hours.begin(), hours.end(), [](std::int64_t price) { return price >= 0; }));
    }
    return 0;
}
