#pragma once

#include "core/base/clock.hpp"

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <string>

namespace fathom::cli {

/// Everything outside the program that a command may touch, so that tests can stand in for it.
/// The streams and the clock must outlive it.
struct Console {
    std::istream* in = nullptr;
    std::ostream* out = nullptr; ///< what was asked for, and nothing else
    std::ostream* err = nullptr; ///< messages
    bool out_is_terminal = false;
    bool err_is_terminal = false;
    std::size_t width = 0; ///< columns of the terminal; 0: not limited (a file, a pipe)
    bool colour = false;
    /// Value of an environment variable, empty when unset.
    std::function<std::string(const char* name)> environment;
    const Clock* clock = nullptr;
};

/// The console of this process: standard streams, the terminal's width, colour unless NO_COLOR is set.
Console process_console(const Clock& clock);

} // namespace fathom::cli
