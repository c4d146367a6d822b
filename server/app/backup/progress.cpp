#include "server/app/backup/progress.hpp"

#include <iostream>
#include <unistd.h>
#include <utility>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

constexpr auto kTerminalPeriod = 200ms;
constexpr auto kLinePeriod = 5s;

} // namespace

Progress::Progress(std::string title)
    : title_(std::move(title)), is_terminal_(isatty(STDERR_FILENO) == 1), told_at_(std::chrono::steady_clock::now())
{
}

Progress::~Progress()
{
    if (has_open_line_) std::cerr << std::endl;
}

void Progress::tell(const std::string& text)
{
    const auto now = std::chrono::steady_clock::now();
    if (now - told_at_ < (is_terminal_ ? std::chrono::nanoseconds(kTerminalPeriod) : kLinePeriod)) return;
    told_at_ = now;
    if (is_terminal_) {
        std::cerr << "\r\033[K" << title_ << ": " << text << std::flush;
        has_open_line_ = true;
    } else {
        std::cerr << title_ << ": " << text << std::endl;
    }
}

} // namespace fathom::server
