// fathom-stage [-- COMMAND…]: stages the inputs that the order in the working folder names, and becomes the command.
// The agent starts it as the job's user, in place of the job's command.
#include "agent/stage/stage_inputs.hpp"
#include "core/base/file.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace fathom::agent {
namespace {

constexpr std::size_t kMaxOrderBytes = 1UL << 22U;
constexpr int kNotStaged = 1;
constexpr int kNotStarted = 127; ///< as shells have it
constexpr const char* kUsage =
    "usage: fathom-stage [-- COMMAND…]\n"
    "Fetches the inputs of a job into its working folder, and becomes the command. The agent starts it there.\n";

Result<void> stage_as_ordered()
{
    const Result<std::string> text = read_file(kStagingOrderName, kMaxOrderBytes);
    if (!text) return text.error();
    const Result<StagingOrder> order = decode_staging_order(*text);
    if (!order) return order.error();
    return stage_inputs(order->inputs, order->rule, ".");
}

int stage_and_become(char* const* command)
{
    std::signal(SIGXFSZ, SIG_IGN); // the job's share of the disk is then a failed write, which can be told
    if (const Result<void> staged = stage_as_ordered(); !staged) {
        std::fprintf(stderr, "fathom-stage: staging failed: %s\n", staged.error().detail.c_str());
        if (const Result<void> told = write_file(kStagingFailureName, staged.error().detail, 0600); !told)
            std::fprintf(stderr, "fathom-stage: %s\n", told.error().detail.c_str());
        return kNotStaged;
    }
    std::signal(SIGXFSZ, SIG_DFL);
    if (*command == nullptr) return 0;
    ::execvp(*command, command);
    const std::string cause = std::strerror(errno); // NOLINT(concurrency-mt-unsafe): one thread
    std::fprintf(stderr, "fathom-stage: cannot start \"%s\": %s\n", *command, cause.c_str());
    return kNotStarted;
}

} // namespace
} // namespace fathom::agent

int main(int count, char** arguments)
{
    using fathom::agent::kUsage;
    if (count == 2 && (std::strcmp(arguments[1], "--help") == 0 || std::strcmp(arguments[1], "-h") == 0))
        return std::fputs(kUsage, stdout) < 0 ? 1 : 0;
    const bool has_command = count > 2 && std::strcmp(arguments[1], "--") == 0;
    if (count != 1 && !has_command) {
        std::fputs(kUsage, stderr);
        return 2;
    }
    return fathom::agent::stage_and_become(arguments + (has_command ? 2 : 1));
}
