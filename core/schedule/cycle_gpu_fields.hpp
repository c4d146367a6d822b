#pragma once

#include "core/schedule/byte_archive.hpp"
#include "core/schedule/unit_ledger.hpp"

#include <cstdint>
#include <limits>

/// The fields of what a scheduling cycle knows of GPUs that jobs share; part of core/schedule/cycle_fields.
namespace fathom::cycle {

inline constexpr std::int64_t kMaxUnits = std::int64_t{1} << 40;
inline constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t kMaxGpuBytes = std::int64_t{1} << 42; ///< as in a job's request

/// The first version that has who was placed on which GPUs, and what jobs keep beside each other.
inline constexpr std::uint64_t kPlacedOnGpusVersion = 18;

namespace all_fields {
inline void know(const KnownGpuRoom& known)
{
    [[maybe_unused]] const auto& [f1, f2, f3] = known;
    [[maybe_unused]] const auto& [r1, r2, r3, r4] = known.room;
}
inline void know(const KnownGpus& known)
{
    [[maybe_unused]] const auto& [f1, f2] = known;
    [[maybe_unused]] const auto& [g1, g2] = TenantedGpu();
    [[maybe_unused]] const auto& [t1, t2] = GpuTenant();
}
inline void know(const PairTable& pairs)
{
    [[maybe_unused]] const auto& [f1, f2] = pairs;
    [[maybe_unused]] const auto& [s1, s2, s3, s4] = PairShare();
}
inline void know(const ExpectedGpuShare& expected)
{
    [[maybe_unused]] const auto& [f1, f2, f3, f4, f5] = expected;
}
} // namespace all_fields

template <class Archive, FieldsOf<ExpectedGpuShare> T>
void fields(Archive& archive, T& expected)
{
    archive.real(expected.share, NumberRange::kAmount);
    archive.expect(expected.share > 0 && expected.share <= 1, "a job keeps no such share of its speed");
    archive.real(expected.spread, NumberRange::kAmount);
    archive.real(expected.until_s, NumberRange::kForEver);
    archive.integer(expected.neighbours, 1);
    archive.choice(expected.basis, PairSource::kMeasured);
}

template <class Archive, FieldsOf<GpuRoom> T>
void fields(Archive& archive, T& room)
{
    for (auto* bytes : {&room.capacity_bytes, &room.persistent_bytes, &room.temporary_bytes, &room.gap_bytes})
        archive.integer(*bytes, 0, kMaxUnits << 10);
}

template <class Archive, FieldsOf<KnownGpuRoom> T>
void fields(Archive& archive, T& known)
{
    archive.text(known.unit_type_id.value);
    fields(archive, known.room);
    if (archive.version() >= kPlacedOnGpusVersion)
        optional_fields(archive, known.expected, [&](auto& room) { fields(archive, room); });
}

template <class Archive, FieldsOf<TenantedGpu> T>
void fields(Archive& archive, T& gpu)
{
    list_fields(archive, gpu.tenants, [&](auto& tenant) {
        archive.text(tenant.kind);
        archive.real(tenant.release_s, NumberRange::kForEver);
    });
    std::uint64_t free_parts = gpu.free_parts;
    archive.number(free_parts);
    archive.expect(free_parts <= static_cast<std::uint64_t>(kMaxUnits), "a GPU has too many parts");
    if constexpr (Archive::kReads) gpu.free_parts = free_parts;
}

template <class Archive, FieldsOf<KnownGpus> T>
void fields(Archive& archive, T& known)
{
    archive.text(known.unit_type_id.value);
    list_fields(archive, known.gpus, [&](auto& gpu) { fields(archive, gpu); });
}

template <class Archive, FieldsOf<PairTable> T>
void fields(Archive& archive, T& pairs)
{
    text_fields(archive, pairs.kinds);
    list_fields(archive, pairs.shares, [&](auto& one) {
        archive.real(one.share, NumberRange::kAmount);
        archive.real(one.spread, NumberRange::kAmount);
        archive.integer(one.count, 0, kAll);
        archive.choice(one.source, PairSource::kMeasured);
    });
}

} // namespace fathom::cycle
