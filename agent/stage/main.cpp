// fathom-stage [--outputs | -- COMMAND…]: does what the order in the working folder says of a job's inputs and outputs.
// The agent starts it as the job's user, in place of the job's command or, in a batch script, around it.
#include "agent/stage/run_command.hpp"
#include "agent/stage/stage_inputs.hpp"
#include "agent/stage/store_outputs.hpp"
#include "core/base/file.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <string_view>
#include <unistd.h>

namespace fathom::agent {
namespace {

constexpr std::size_t kMaxOrderBytes = 1UL << 22U;
constexpr int kFailed = 1;
constexpr const char* kUsage = "usage: fathom-stage [--outputs | -- COMMAND…]\n"
                               "Fetches the inputs of a job into its working folder, runs the command, and stores the\n"
                               "outputs where it succeeds. The agent starts it there.\n"
                               "  --outputs   only stores the outputs; without anything, it only fetches the inputs\n";

Result<StagingOrder> read_order()
{
    const Result<std::string> text = read_file(kStagingOrderName, kMaxOrderBytes);
    if (!text) return text.error();
    Result<StagingOrder> order = decode_staging_order(*text);
    if (!order) return order;
    // What was signed when the job was submitted may be good no more.
    const Result<std::string> renewed = read_file(std::string("../") + kRenewedName, kMaxOrderBytes);
    if (renewed) take_grants(order->rule, *renewed);
    return order;
}

void note(const char* name, const std::string& text)
{
    if (const Result<void> noted = write_file(name, text, 0600); !noted)
        std::fprintf(stderr, "fathom-stage: %s\n", noted.error().detail.c_str());
}

/// For people, and for the agent, which tells the metascheduler.
int fail(const char* words, const char* name, const std::string& cause)
{
    std::fprintf(stderr, "fathom-stage: %s: %s\n", words, cause.c_str());
    note(name, cause);
    return kFailed;
}

int fail_staging(const std::string& cause)
{
    return fail("staging failed", kStagingFailureName, cause);
}

int fail_storing(const std::string& cause)
{
    return fail("an output could not be stored", kOutputFailureName, cause);
}

double seconds_since(std::chrono::steady_clock::time_point begin)
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

int fetch(const StagingOrder& order)
{
    if (order.inputs.empty()) return 0;
    const auto begin = std::chrono::steady_clock::now();
    StagedInputs staged;
    // In the job's standard error, which its user can read as it comes, and the metascheduler does.
    StagingProgress progress(order.inputs, begin, [](const std::string& line) {
        // In one piece: the metascheduler reads whole lines.
        std::fputs((std::string(kStagingLinePrefix) + line + "\n").c_str(), stderr);
    });
    const Result<void> done = stage_inputs(order, ".", staged, {.tries = {}, .progress = &progress});
    note(kStagedInputsName, Json{{"seconds", seconds_since(begin)},
                                 {"bytes", staged.bytes},
                                 {"cached_bytes", staged.cached_bytes},
                                 {"spoiled", staged.spoiled}}
                                .dump());
    return done ? 0 : fail_staging(done.error().detail);
}

int store(const StagingOrder& order)
{
    if (order.outputs.empty()) return 0;
    const auto begin = std::chrono::steady_clock::now();
    std::vector<StoredOutput> stored;
    const Result<void> done = store_outputs(order.outputs, order.rule, ".", stored);
    note(kStoredOutputsName, Json{{"outputs", to_json(stored)}, {"seconds", seconds_since(begin)}}.dump());
    return done ? 0 : fail_storing(done.error().detail);
}

int run(std::string_view option, char* const* command)
{
    std::signal(SIGXFSZ, SIG_IGN); // the job's share of the disk is then a failed write, which can be told
    const bool only_stores = option == "--outputs";
    const Result<StagingOrder> order = read_order();
    if (!order) return only_stores ? fail_storing(order.error().detail) : fail_staging(order.error().detail);
    if (only_stores) return store(*order);
    const Result<void> granted = check_grants(order->outputs, order->rule);
    const int failed = granted ? fetch(*order) : fail_staging("output " + granted.error().detail);
    for (const auto& [sha256, file] : order->cached)
        ::close(file); // they are not for the command
    if (failed != 0 || *command == nullptr) return failed;
    std::signal(SIGXFSZ, SIG_DFL);
    if (order->outputs.empty()) return become(command);
    const int code = run_command(command);
    std::signal(SIGXFSZ, SIG_IGN);
    return code == 0 ? store(*order) : code;
}

} // namespace
} // namespace fathom::agent

int main(int count, char** arguments)
{
    using fathom::agent::kUsage;
    const std::string_view option = count > 1 ? arguments[1] : "";
    if (count == 2 && (option == "--help" || option == "-h")) return std::fputs(kUsage, stdout) < 0 ? 1 : 0;
    const bool is_right = count == 1 || (count == 2 && option == "--outputs") || (count > 2 && option == "--");
    if (!is_right) {
        std::fputs(kUsage, stderr);
        return 2;
    }
    return fathom::agent::run(option, arguments + (count > 2 ? 2 : count));
}
