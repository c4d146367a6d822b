#pragma once

#include "core/base/open_file.hpp"
#include "core/base/result.hpp"

#include <chrono>
#include <cstddef>
#include <span>
#include <vector>

namespace fathom::probes {

/// A process's place in a ring of at least two: it sends to the next one and receives from the one before.
/// Every process of the ring makes the same calls in the same order. Not thread-safe.
class Ring {
  public:
    /// @param idle_limit  for which nothing may move before a call gives up
    Ring(std::size_t rank, std::size_t size, OpenFile next, OpenFile previous,
         std::chrono::milliseconds idle_limit = std::chrono::seconds(60));

    /// Returns once all have called it.
    /// @error kUnavailable  a neighbour has ended, or nothing moves
    Result<void> meet();

    /// Adds the vectors of all up: `sum` is the same in all then. Each sends and receives 2 · (size - 1) / size of its
    /// vector, in 2 · (size - 1) steps (Patarasuk and Yuan 2009).
    /// @error kUnavailable  as meet()
    Result<void> allreduce(std::span<const double> own, std::span<double> sum);

  private:
    /// Sends and receives at the same time: no side waits for another that waits for it.
    Result<void> exchange(std::span<const std::byte> out, std::span<std::byte> in);
    /// Part `index` of a vector, counted around the ring, of as many as there are processes.
    std::span<double> part_of(std::span<double> vector, std::size_t index) const;

    std::size_t rank_;
    std::size_t size_;
    OpenFile next_;
    OpenFile previous_;
    std::chrono::milliseconds idle_limit_;
    std::vector<double> received_;
};

} // namespace fathom::probes
