#include "server/probing/orders/run_order.hpp"
#include "tests/fuzz/fuzz_input.hpp"

/// Whatever is the body of POST /probe-runs, parse_run_order() reads an order with counts in their bounds, or refuses
/// it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const fathom::Result<fathom::Json> json = fathom::parse_json(fathom::fuzz::text_of(data, size));
    if (!json) return 0;
    const fathom::Result<fathom::server::RunOrder> order = fathom::server::parse_run_order(*json);
    if (!order) {
        fathom::fuzz::check_refusal(order.error());
        return 0;
    }
    FATHOM_ASSERT(order->probe_task_id.empty() + order->job_type.empty() + order->operators.empty() >= 2);
    FATHOM_ASSERT(!order->places.unit_counts.empty() && order->places.unit_counts.front() >= 1);
    return 0;
}
