#include "cli/text/console.hpp"

#include <cstdlib>
#include <iostream>
#include <sys/ioctl.h>
#include <unistd.h>

namespace fathom::cli {
namespace {

std::string environment_of_process(const char* name)
{
    // The program has one thread when it reads these.
    const char* const value = std::getenv(name); // NOLINT(concurrency-mt-unsafe)
    return value == nullptr ? std::string() : std::string(value);
}

std::size_t terminal_width()
{
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    return 0;
}

} // namespace

Console process_console(const Clock& clock)
{
    Console console;
    console.in = &std::cin;
    console.out = &std::cout;
    console.err = &std::cerr;
    console.out_is_terminal = ::isatty(STDOUT_FILENO) == 1;
    console.err_is_terminal = ::isatty(STDERR_FILENO) == 1;
    console.width = console.out_is_terminal ? terminal_width() : 0;
    console.colour = console.out_is_terminal && environment_of_process("NO_COLOR").empty() &&
                     environment_of_process("TERM") != "dumb";
    console.environment = environment_of_process;
    console.clock = &clock;
    return console;
}

} // namespace fathom::cli
