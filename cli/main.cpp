#include "cli/run.hpp"

#include <csignal>
#include <cstdlib>
#include <iostream>

int main(int argc, char** argv)
{
    // A reader that has seen enough (`| head`) ends the program without a word, as it does other tools.
    std::signal(SIGPIPE, SIG_DFL);
    std::ios::sync_with_stdio(false);
    const fathom::SystemClock clock;
    const int code = fathom::cli::run({argv + 1, argv + argc}, fathom::cli::process_console(clock));
    std::cout.flush();
    // A thread may still listen for events (JobEvents): nothing that it uses may be destroyed under it.
    std::_Exit(code);
}
