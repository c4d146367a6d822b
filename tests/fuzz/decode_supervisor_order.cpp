#include "agent/executor/local/attempt_folder.hpp"
#include "tests/fuzz/fuzz_input.hpp"

/// Whatever is left of an order.json, decode_supervisor_order() answers; what it took is written and read again as the
/// same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const fathom::Result<fathom::agent::SupervisorOrder> order =
        fathom::agent::decode_supervisor_order(std::string(fathom::fuzz::text_of(data, size)));
    if (!order) {
        FATHOM_ASSERT(order.error().code == fathom::Errc::kInvalid);
        return 0;
    }
    const auto again = fathom::agent::decode_supervisor_order(fathom::agent::encode(*order));
    FATHOM_ASSERT(again.has_value());
    FATHOM_ASSERT(again->run.cpus == order->run.cpus && again->run.environment == order->run.environment);
    FATHOM_ASSERT(again->hidden == order->hidden && again->shared == order->shared);
    FATHOM_ASSERT(again->user.has_value() == order->user.has_value());
    return 0;
}
