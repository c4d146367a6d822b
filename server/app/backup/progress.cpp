#include "server/app/backup/progress.hpp"

#include <cstdio>
#include <iostream>
#include <unistd.h>

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

std::string bytes_text(std::uintmax_t bytes)
{
    double value = static_cast<double>(bytes);
    const char* unit = "bytes";
    for (const char* const larger : {"kB", "MB", "GB", "TB"}) {
        if (value < 1000) break;
        value /= 1000;
        unit = larger;
    }
    char text[32];
    std::snprintf(text, sizeof text, bytes < 1000 ? "%.0f %s" : "%.1f %s", value, unit);
    return text;
}

} // namespace fathom::server
