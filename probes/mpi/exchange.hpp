#pragma once

#include "probes/mpi/world.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

/// What an MPI operator executes, in every process alike.
namespace fathom::probes {

class Exchange {
  public:
    Exchange() = default;
    virtual ~Exchange() = default;
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;

    /// All processes execute `count` times. They must be about to call it at about the same time; it begins with a
    /// barrier.
    /// @return the seconds that this took, in rank 0; in others anything.
    virtual double run(std::int64_t count) = 0;

    /// The error of what this process received in the last run(); 0 of one that took no part.
    virtual double error() = 0;

    /// In rank 0: the digest of what was received in the last run(), the same for the same seed however many processes
    /// there are. All processes must call it.
    virtual std::string checksum() = 0;
};

/// @param kind  "latency", "bandwidth", "allreduce" or "alltoall"; nullptr for others.
/// @param size  bytes of a message; of allreduce elements of a vector.
std::unique_ptr<Exchange> make_exchange(std::string_view kind, const MpiWorld& world, std::int64_t size,
                                        std::uint64_t seed);

/// Those between rank 0 and its peers, in turn.
std::unique_ptr<Exchange> make_latency(const MpiWorld& world, std::size_t bytes, std::uint64_t seed);
std::unique_ptr<Exchange> make_bandwidth(const MpiWorld& world, std::size_t bytes, std::uint64_t seed);
/// Those of all processes.
std::unique_ptr<Exchange> make_allreduce(const MpiWorld& world, std::size_t elements, std::uint64_t seed);
std::unique_ptr<Exchange> make_alltoall(const MpiWorld& world, std::size_t bytes, std::uint64_t seed);

} // namespace fathom::probes
