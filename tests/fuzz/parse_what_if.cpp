#include "core/decide/explanation/what_if.hpp"
#include "tests/fuzz/fuzz_input.hpp"

/// Whatever change is asked for, parse_what_if() reads it or says why not, and what it read changes a network.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const fathom::Result<fathom::Json> json = fathom::parse_json(fathom::fuzz::text_of(data, size));
    if (!json) return 0;
    std::vector<fathom::FieldError> errors;
    const fathom::WhatIf what_if = fathom::parse_what_if(*json, "what_if", errors);
    if (!errors.empty()) {
        fathom::fuzz::check_refusal({fathom::Errc::kInvalid, "refused", errors});
        return 0;
    }
    for (const fathom::PriceChange& price : what_if.prices)
        FATHOM_ASSERT(price.per_unit_hour_micros >= 0);
    fathom::UnitTypeView view;
    view.center_name = "alpha";
    view.name = "core";
    std::vector<fathom::UnitTypeView> views{view};
    fathom::RouteRequest request;
    fathom::check_what_if(what_if, views, "EUR", request.transfer.now, "what_if", errors);
    if (errors.empty()) fathom::apply_what_if(what_if, request, views);
    FATHOM_ASSERT(views.size() <= 1);
    return 0;
}
