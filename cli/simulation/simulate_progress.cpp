#include "cli/simulation/simulate_progress.hpp"

#include "cli/text/format_units.hpp"

#include <fmt/format.h>

#include <ostream>

namespace fathom::cli {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto kTerminalPause = 200ms;
constexpr auto kFilePause = 30s;
/// Before that, how fast it goes is not known.
constexpr double kMinShare = 0.01;

} // namespace

SimulateProgress::SimulateProgress(Console console, std::size_t job_count, std::size_t run_count)
    : console_(std::move(console)), job_count_(job_count), run_count_(run_count), shown_(Clock::now())
{
}

SimulateProgress::~SimulateProgress()
{
    clear();
}

void SimulateProgress::begin_run(const std::string& name)
{
    ++run_;
    name_ = name;
    began_ = Clock::now();
}

void SimulateProgress::show(const simulation::SimulationProgress& progress)
{
    const SteadyTime now = Clock::now();
    if (now - shown_ < (console_.err_is_terminal ? kTerminalPause : kFilePause)) return;
    shown_ = now;
    const double share = static_cast<double>(progress.ended) / static_cast<double>(job_count_);
    const double spent_s = std::chrono::duration<double>(now - began_).count();
    const std::string left =
        share >= kMinShare && share < 1 ? ", about " + format_duration(spent_s * (1 - share) / share) + " left" : "";
    const std::string line =
        fmt::format("{} ({} of {}): {} simulated, {} of {} jobs ended, {} waiting{}", name_, run_, run_count_,
                    format_duration(progress.now_s), format_count(progress.ended),
                    format_count(static_cast<std::int64_t>(job_count_)), format_count(progress.waiting), left);
    if (console_.err_is_terminal)
        *console_.err << "\r\x1b[K" << line << std::flush;
    else
        *console_.err << "fathom: " << line << "\n" << std::flush;
    has_line_ = console_.err_is_terminal;
}

void SimulateProgress::clear()
{
    if (has_line_) *console_.err << "\r\x1b[K" << std::flush;
    has_line_ = false;
}

} // namespace fathom::cli
