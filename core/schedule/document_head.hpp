#pragma once

// Internal to core/schedule.

#include "core/schedule/cycle_document.hpp"
#include "core/schedule/cycle_fields.hpp"

namespace fathom {

/// What each document begins with, after the version.
enum class DocumentKind { kCycle, kUnitTypes, kStates, kRuns, kWaits, kEstimates, kLoads };

/// The first version in which the loads of unit types are a part of the catalog: they are the same for many cycles.
inline constexpr std::uint64_t kLoadsInCatalogVersion = 10;

template <class Archive>
void head_fields(Archive& archive, DocumentKind kind)
{
    std::uint64_t version = kCycleVersion;
    archive.number(version);
    archive.expect(kOldestCycleVersion <= version && version <= kCycleVersion, "it is of another version");
    archive.set_version(version);
    DocumentKind read = kind;
    archive.choice(read, DocumentKind::kLoads);
    archive.expect(read == kind, "it is another document");
}

} // namespace fathom
