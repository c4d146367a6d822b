#include "core/decide/routing/route_json.hpp"
#include "tests/fuzz/fuzz_input.hpp"

/// Whatever is kept as a decision's inputs, parse_route_inputs() reads what route() decides on, or refuses it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const fathom::Result<fathom::Json> json = fathom::parse_json(fathom::fuzz::text_of(data, size));
    if (!json) return 0;
    const fathom::Result<fathom::RouteInputs> inputs = fathom::parse_route_inputs(*json);
    if (!inputs) {
        fathom::fuzz::check_refusal(inputs.error());
        return 0;
    }
    const fathom::Decision decision = fathom::route(inputs->request, inputs->unit_types, inputs->knowledge);
    const fathom::Json kept =
        fathom::route_inputs_json(inputs->request, inputs->unit_types, inputs->knowledge, decision);
    const fathom::Result<fathom::Json> stored = fathom::parse_json(kept.dump());
    FATHOM_ASSERT(stored.has_value());
    FATHOM_ASSERT(fathom::parse_route_inputs(*stored).has_value());
    return 0;
}
