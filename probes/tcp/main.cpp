/// What fathom-probe starts for the operator tcp_allreduce. It tells this program by its standard input what to do, a
/// line each, and reads the answers (probes/operators/exchange_command.hpp, exchange_reply.hpp). The end of that input
/// ends all processes.
#include "core/base/parse_number.hpp"
#include "probes/tcp/coordinator.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sys/resource.h>

namespace fathom::probes {
namespace {

constexpr std::size_t kMaxElements = 100'000'000;
constexpr const char* kUsage = "usage: fathom-tcp-probe PROCESSES ELEMENTS SEED [LAUNCHER…]\n"
                               "       fathom-tcp-probe --join ELEMENTS SEED\n"
                               "PROCESSES is 2 to 4096, ELEMENTS 1 to 100000000. fathom-probe starts it.\n";

std::optional<TeamVector> parse_vector(std::string_view elements, std::string_view seed)
{
    const std::optional<std::size_t> count = parse_number<std::size_t>(elements);
    const std::optional<std::uint64_t> number = parse_number<std::uint64_t>(seed);
    if (!count || *count < 1 || *count > kMaxElements || !number) return std::nullopt;
    return TeamVector{*count, *number};
}

int wrong_usage()
{
    std::fputs(kUsage, stderr);
    return 1;
}

std::string variable(const char* name)
{
    const char* const value = std::getenv(name);
    return value != nullptr ? value : "";
}

/// A process that a launcher has started.
int join(const TeamVector& vector)
{
    const Meeting meeting{parse_addresses(variable(kMeetVariable)), variable(kSecretVariable)};
    if (!meeting.addresses.empty() && !meeting.secret.empty()) return run_member(meeting, vector);
    std::fprintf(stderr, "fathom-tcp-probe: %s or %s is not set: the launcher must pass the environment on\n",
                 kMeetVariable, kSecretVariable);
    return 1;
}

/// The coordinator has a connection to each process. @return whether it may open so many files
bool allow_open_files(int processes)
{
    constexpr rlim_t kOthers = 32; // streams, sockets that listen, strangers
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return true; // accept() tells
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_max >= static_cast<rlim_t>(processes) + kOthers) return true;
    std::fprintf(stderr,
                 "fathom-tcp-probe: %d processes need as many connections; \"ulimit -Hn\" allows %ju open files\n",
                 processes, static_cast<std::uintmax_t>(limit.rlim_max));
    return false;
}

int lead(TeamOrder order)
{
    std::error_code ignored;
    order.program = std::filesystem::read_symlink("/proc/self/exe", ignored).string();
    if (!allow_open_files(order.processes)) return 2;
    const Result<void> done = coordinate(order);
    if (done) return 0;
    std::fprintf(stderr, "fathom-tcp-probe: %s\n", done.error().detail.c_str());
    return 2;
}

int run(int argc, char** argv)
{
    if (argc < 4) return wrong_usage();
    const std::optional<TeamVector> vector = parse_vector(argv[2], argv[3]);
    if (!vector) return wrong_usage();
    if (std::string_view(argv[1]) == "--join") return join(*vector);
    const std::optional<int> processes = parse_number<int>(argv[1]);
    if (!processes || *processes < 2 || *processes > kMaxTeam) return wrong_usage();
    return lead({.processes = *processes, .vector = *vector, .launcher = {argv + 4, argv + argc}, .program = {}});
}

} // namespace
} // namespace fathom::probes

int main(int argc, char** argv)
{
    return fathom::probes::run(argc, argv);
}
