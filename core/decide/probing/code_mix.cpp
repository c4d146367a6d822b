#include "core/decide/probing/code_mix.hpp"

#include <algorithm>
#include <span>

namespace fathom {
namespace {

/// The part that counts what an instruction computes; none for moves and waits.
double* part_of(CodeMix& mix, CodeKind kind)
{
    switch (kind) {
    case CodeKind::kFloating:
        return &mix.floating;
    case CodeKind::kSlowFloating:
        return &mix.slow_floating;
    case CodeKind::kInteger:
        return &mix.integer;
    case CodeKind::kBranch:
        return &mix.branch;
    case CodeKind::kJump:
        return &mix.jump;
    case CodeKind::kString:
        return &mix.string;
    case CodeKind::kAtomic:
        return &mix.atomic;
    case CodeKind::kCrypto:
        return &mix.crypto;
    case CodeKind::kMove:
    case CodeKind::kWait:
        return nullptr;
    }
    return nullptr;
}

} // namespace

CodeMix mix_of(std::span<const CodeInstruction> loop)
{
    CodeMix mix;
    double parts = 0;
    double floating = 0;
    double flops = 0;
    double bytes = 0;
    const auto count = [&](double& part) {
        part += 1;
        parts += 1;
    };
    for (const CodeInstruction& one : loop) {
        if (double* const part = part_of(mix, one.kind)) count(*part);
        if (one.loaded_bytes > 0) count(one.is_indirect ? mix.indirect_load : mix.load);
        if (one.stored_bytes > 0) count(mix.store);
        if (one.kind == CodeKind::kWait) mix.waits += 1;
        if (one.kind == CodeKind::kFloating || one.kind == CodeKind::kSlowFloating) {
            floating += 1;
            mix.packed += one.is_packed ? 1 : 0;
        }
        flops += one.flops;
        bytes += one.loaded_bytes + one.stored_bytes;
    }
    if (!loop.empty()) mix.waits /= static_cast<double>(loop.size());
    if (floating > 0) mix.packed /= floating;
    // A loop without memory operands keeps its numbers in registers: as if it moved one of eight bytes.
    constexpr double kMinBytes = 8;
    mix.flops_per_byte = flops / std::max(bytes, kMinBytes);
    if (parts <= 0) return mix;
    for (double* const part : {&mix.floating, &mix.slow_floating, &mix.integer, &mix.load, &mix.indirect_load,
                               &mix.store, &mix.branch, &mix.jump, &mix.string, &mix.atomic, &mix.crypto})
        *part /= parts;
    return mix;
}

} // namespace fathom
