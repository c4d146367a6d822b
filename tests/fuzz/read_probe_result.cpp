#include "server/probing/findings/check_result.hpp"
#include "tests/fuzz/fuzz_input.hpp"

/// Whatever a center's probe printed, read_probe_result() reads it or refuses it, and check_probe_result() finds what
/// is wrong with it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const fathom::Result<fathom::ProbeResult> result =
        fathom::server::read_probe_result(std::string(fathom::fuzz::text_of(data, size)));
    if (!result) {
        fathom::fuzz::check_refusal(result.error());
        return 0;
    }
    fathom::ProbeTask task;
    task.name = result->task;
    for (const fathom::OperatorResult& one : result->operators)
        task.operators.push_back({.id = one.id, .parameters = one.parameters, .count = one.count, .label = one.label});
    const fathom::server::OperatorLibrary library;
    const auto faults = fathom::server::check_probe_result(*result, task, 1, library);
    // The library is empty, so that there is a fault in each operator.
    FATHOM_ASSERT(faults.size() >= result->operators.size());
    if (!faults.empty()) FATHOM_ASSERT(!fathom::server::to_finding(faults).evidence.dump().empty());
    return 0;
}
