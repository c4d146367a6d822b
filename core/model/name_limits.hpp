#pragma once

#include <cstddef>

/// How long names may be that documents, requests and messages hold, in bytes. (Names of jobs: core/model/job.hpp.)
namespace fathom {

inline constexpr std::size_t kMaxProjectNameBytes = 128;
inline constexpr std::size_t kMaxCenterNameBytes = 128;
inline constexpr std::size_t kMaxUnitTypeNameBytes = 128;

} // namespace fathom
