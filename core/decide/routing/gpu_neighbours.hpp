#pragma once

#include "core/model/gpu_share.hpp"

#include <optional>
#include <string>

namespace fathom {

/// Who has parts of the GPUs of one unit type, with those who were placed there since a cycle of decisions began.
class GpuNeighbours {
  public:
    GpuNeighbours() = default;
    GpuNeighbours(const GpuNeighbours&) = delete;
    GpuNeighbours& operator=(const GpuNeighbours&) = delete;
    virtual ~GpuNeighbours() = default;

    /// Whether it can tell of jobs of this kind (RouteRequest::gpu_kind).
    virtual bool knows(const std::string& kind) const = 0;
    /// What such a job would keep beside them. Empty: it would get a GPU of its own, or nothing was measured of them.
    virtual std::optional<ExpectedGpuShare> expect(const std::string& kind) const = 0;
};

} // namespace fathom
