/// What MPI starts for the operators mpi_latency, mpi_bandwidth, mpi_allreduce and mpi_alltoall: fathom-probe tells
/// rank 0 by its standard input what to do, a line each ("run 1000", "check"), and reads the answers, lines that begin
/// with "fathom-exchange" (probes/operators/exchange_reply.hpp). The end of that input ends all processes.
#include "core/base/parse_number.hpp"
#include "probes/mpi/exchange.hpp"
#include "probes/operators/exchange_command.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <limits>
#include <mpi.h>
#include <new>
#include <optional>

namespace fathom::probes {
namespace {

constexpr int kCommandTag = 9;
constexpr int kMaxBytes = 268'435'456; ///< of a message or a vector: MPI counts in int
/// How long a process sleeps between two looks for a command, at first and at most: other operators are measured while
/// these processes wait, and MPI itself would wait in a loop.
constexpr long kFirstSleep_ns = 50'000;
constexpr long kMaxSleep_ns = 10'000'000;

/// In ranks other than 0: asleep until rank 0 has sent one.
ExchangeCommand receive_command()
{
    long sleep_ns = kFirstSleep_ns;
    int is_there = 0;
    MPI_Iprobe(0, kCommandTag, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
    while (is_there == 0) {
        const timespec pause{.tv_sec = 0, .tv_nsec = sleep_ns};
        nanosleep(&pause, nullptr);
        sleep_ns = std::min(2 * sleep_ns, kMaxSleep_ns);
        MPI_Iprobe(0, kCommandTag, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
    }
    std::array<std::int64_t, 2> words{};
    MPI_Recv(words.data(), 2, MPI_INT64_T, 0, kCommandTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return {static_cast<ExchangeTask>(words[0]), words[1]};
}

ExchangeCommand next_command(const MpiWorld& world)
{
    if (world.rank != 0) return receive_command();
    const ExchangeCommand command = read_exchange_command();
    const std::array<std::int64_t, 2> words{static_cast<std::int64_t>(command.task), command.count};
    for (int rank = 1; rank < world.size; ++rank)
        MPI_Send(words.data(), 2, MPI_INT64_T, rank, kCommandTag, MPI_COMM_WORLD);
    return command;
}

/// "Open MPI v4.1.4" of "Open MPI v4.1.4, package: …"; other libraries write several lines.
std::string library_name()
{
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    std::string name(text.data());
    name.resize(std::min(name.find_first_of(",\n"), name.size()));
    std::replace(name.begin(), name.end(), '\t', ' ');
    return name;
}

void check(const MpiWorld& world, Exchange& exchange)
{
    double error = exchange.error();
    if (!std::isfinite(error)) error = std::numeric_limits<double>::max(); // a maximum with NaN may be anything
    MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    const std::string checksum = exchange.checksum();
    if (world.rank == 0) std::printf("fathom-exchange checked %.17g %s\n", error, checksum.c_str());
}

void serve(const MpiWorld& world, Exchange& exchange)
{
    if (world.rank == 0)
        std::printf("fathom-exchange ready %d %d %d %s\n", world.size, world.hosts, world.is_crowded ? 1 : 0,
                    library_name().c_str());
    while (true) {
        std::fflush(stdout);
        const ExchangeCommand command = next_command(world);
        switch (command.task) {
        case ExchangeTask::kEnd:
            return;
        case ExchangeTask::kRun: {
            const double elapsed_s = exchange.run(command.count);
            if (world.rank == 0) std::printf("fathom-exchange done %.9e\n", elapsed_s);
            break;
        }
        case ExchangeTask::kCheck:
            check(world, exchange);
            break;
        }
    }
}

struct Arguments {
    std::string_view kind;
    std::int64_t size{};
    std::uint64_t seed{};
};

std::optional<Arguments> parse_arguments(int argc, char** argv)
{
    if (argc != 4) return std::nullopt;
    const std::optional<std::int64_t> size = parse_number<std::int64_t>(argv[2]);
    const std::optional<std::uint64_t> seed = parse_number<std::uint64_t>(argv[3]);
    if (!size || *size < 1 || *size > kMaxBytes || !seed) return std::nullopt;
    return Arguments{argv[1], *size, *seed};
}

int fail(const char* what)
{
    std::fprintf(stderr, "fathom-mpi-probe: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 2);
    return 2;
}

/// Between MPI_Init and MPI_Finalize.
int run(int argc, char** argv)
{
    const std::optional<Arguments> arguments = parse_arguments(argc, argv);
    if (!arguments) return fail("usage: mpirun -n PROCESSES fathom-mpi-probe KIND SIZE SEED");
    const MpiWorld world = join_world();
    if (world.size < 2) return fail("needs two processes");
    try {
        const std::unique_ptr<Exchange> exchange =
            make_exchange(arguments->kind, world, arguments->size, arguments->seed);
        if (exchange == nullptr) return fail("KIND is latency, bandwidth, allreduce or alltoall");
        serve(world, *exchange);
    } catch (const std::bad_alloc&) {
        return fail("out of memory");
    }
    return 0;
}

} // namespace
} // namespace fathom::probes

int main(int argc, char** argv)
{
    using namespace fathom::probes;
    // Whether the libraries are there, and which: that this runs at all says so.
    if (argc == 2 && std::strcmp(argv[1], "--library") == 0)
        return std::printf("fathom-exchange library %s\n", library_name().c_str()) > 0 ? 0 : 1;
    MPI_Init(&argc, &argv);
    const int exit_code = run(argc, argv);
    MPI_Finalize();
    return exit_code;
}
