#include "server/operators/operator_order.hpp"
#include "tests/fuzz/fuzz_input.hpp"

/// Whatever an expert sends as an operator, parse_operator_order() reads a manifest and perhaps its code, or refuses
/// it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const fathom::Result<fathom::Json> json = fathom::parse_json(fathom::fuzz::text_of(data, size));
    if (!json) return 0;
    const fathom::Result<fathom::server::OperatorOrder> order = fathom::server::parse_operator_order(*json);
    if (!order) {
        fathom::fuzz::check_refusal(order.error());
        return 0;
    }
    FATHOM_ASSERT(order->manifest.is_uploaded() == order->package.has_value());
    FATHOM_ASSERT(fathom::server::same_content(order->manifest, order->manifest));
    return 0;
}
