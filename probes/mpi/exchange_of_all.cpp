#include "probes/mpi/exchange.hpp"
#include "probes/mpi/payload.hpp"
#include "probes/operators/checksum.hpp"
#include "probes/operators/reduction/truth.hpp"

#include <chrono>
#include <limits>
#include <mpi.h>
#include <vector>

namespace fathom::probes {
namespace {

/// Calls a collective operation `count` times. @return the seconds of the process that took longest
double time_together(std::int64_t count, auto call)
{
    using Clock = std::chrono::steady_clock;
    MPI_Barrier(MPI_COMM_WORLD);
    const Clock::time_point start = Clock::now();
    for (std::int64_t i = 0; i < count; ++i)
        call();
    double elapsed_s = std::chrono::duration<double>(Clock::now() - start).count();
    MPI_Allreduce(MPI_IN_PLACE, &elapsed_s, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return elapsed_s;
}

/// The vectors and the truth of the operator reduction.
class Allreduce final : public Exchange {
  public:
    Allreduce(const MpiWorld& world, std::size_t elements, std::uint64_t seed)
        : elements_(elements), seed_(seed), own_(elements), sum_(elements)
    {
        const auto rank = static_cast<std::size_t>(world.rank);
        const auto ranks = static_cast<std::size_t>(world.size);
        for (std::size_t i = 0; i < elements; ++i)
            own_[i] = reduction_input(seed, rank, ranks, i);
    }

    double run(std::int64_t count) override
    {
        sum_.assign(elements_, std::numeric_limits<double>::quiet_NaN());
        return time_together(count, [&] {
            MPI_Allreduce(own_.data(), sum_.data(), static_cast<int>(elements_), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        });
    }

    double error() override { return reduction_error(sum_, elements_, seed_); }
    std::string checksum() override { return reduction_checksum(sum_, elements_); }

  private:
    std::size_t elements_;
    std::uint64_t seed_;
    std::vector<double> own_;
    std::vector<double> sum_;
};

/// Every process sends every process a block, itself included.
class Alltoall final : public Exchange {
  public:
    Alltoall(const MpiWorld& world, std::size_t bytes, std::uint64_t seed)
        : rank_(static_cast<std::size_t>(world.rank)), size_(static_cast<std::size_t>(world.size)), bytes_(bytes),
          seed_(seed), sent_(size_ * bytes), received_(size_ * bytes)
    {
        for (std::size_t to = 0; to < size_; ++to)
            fill_message({sent_.data() + to * bytes_, bytes_}, seed_, {rank_, to});
    }

    double run(std::int64_t count) override
    {
        spoil(received_);
        const int bytes = static_cast<int>(bytes_);
        return time_together(count, [&] {
            MPI_Alltoall(sent_.data(), bytes, MPI_BYTE, received_.data(), bytes, MPI_BYTE, MPI_COMM_WORLD);
        });
    }

    double error() override
    {
        std::size_t wrong = 0;
        for (std::size_t from = 0; from < size_; ++from)
            wrong += wrong_bytes({received_.data() + from * bytes_, bytes_}, seed_, {from, rank_});
        return static_cast<double>(wrong) / static_cast<double>(received_.size());
    }

    /// Of the blocks of the first two, whom there are everywhere.
    std::string checksum() override { return exact_checksum({received_.data(), 2 * bytes_}); }

  private:
    std::size_t rank_;
    std::size_t size_;
    std::size_t bytes_;
    std::uint64_t seed_;
    std::vector<std::byte> sent_;
    std::vector<std::byte> received_;
};

} // namespace

std::unique_ptr<Exchange> make_allreduce(const MpiWorld& world, std::size_t elements, std::uint64_t seed)
{
    return std::make_unique<Allreduce>(world, elements, seed);
}

std::unique_ptr<Exchange> make_alltoall(const MpiWorld& world, std::size_t bytes, std::uint64_t seed)
{
    return std::make_unique<Alltoall>(world, bytes, seed);
}

std::unique_ptr<Exchange> make_exchange(std::string_view kind, const MpiWorld& world, std::int64_t size,
                                        std::uint64_t seed)
{
    const auto count = static_cast<std::size_t>(size);
    if (kind == "latency") return make_latency(world, count, seed);
    if (kind == "bandwidth") return make_bandwidth(world, count, seed);
    if (kind == "allreduce") return make_allreduce(world, count, seed);
    if (kind == "alltoall") return make_alltoall(world, count, seed);
    return nullptr;
}

} // namespace fathom::probes
