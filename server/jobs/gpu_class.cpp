#include "server/jobs/gpu_class.hpp"

#include "core/decide/corun/kernel.hpp"
#include "core/model/formula.hpp"

#include <algorithm>

namespace fathom::server {
namespace {

/// What sorting or copying counts as, which have no operations: a class is told of more than none.
constexpr double kMinOperations = 1e-9;

} // namespace

KernelClass gpu_class_of(std::span<const OperatorUse> operators, const CatalogSnapshot& catalog)
{
    double operations = 0;
    double bytes = 0;
    for (const OperatorUse& use : operators) {
        const OperatorVersion* const found = catalog.find_operator(use.id, use.version);
        if (found == nullptr || !found->manifest.runs_on("cuda")) continue;
        const auto count = static_cast<double>(use.count);
        const Result<double> some_operations = evaluate_formula(found->manifest.operation_count, use.parameters);
        const Result<double> some_bytes = evaluate_formula(found->manifest.byte_count, use.parameters);
        if (some_operations) operations += count * *some_operations;
        if (some_bytes) bytes += count * *some_bytes;
    }
    const Result<ClassFinding> finding = classify_kernel({.operations = std::max(operations, kMinOperations),
                                                          .memory_bytes = bytes,
                                                          .device_balance = kTypicalGpuBalance});
    // Refused only where nothing is moved, or more than numbers hold.
    return finding ? finding->kernel_class : KernelClass::kUnknown;
}

} // namespace fathom::server
