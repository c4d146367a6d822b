#pragma once

#include <cstdint>

/// What random numbers of uniform_of() and normal_of() are for, beside those of the truth (truth.cpp): no two uses may
/// draw the same ones.
namespace fathom::simulation {

inline constexpr std::uint64_t kJobErrorPurpose = 101;
inline constexpr std::uint64_t kMeasurementErrorPurpose = 102;
inline constexpr std::uint64_t kMeasurementTimePurpose = 103;
inline constexpr std::uint64_t kRandomPlacePurpose = 104;
inline constexpr std::uint64_t kFavouritePurpose = 105;

} // namespace fathom::simulation
