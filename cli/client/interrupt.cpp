#include "cli/client/interrupt.hpp"

#include "cli/client/exit_code.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <unistd.h>

namespace fathom::cli {
namespace {

// A signal handler may touch nothing but what stood ready before.
std::array<char, 500> notice_text{};
std::size_t notice_size = 0;
std::atomic<bool> is_interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void print_notice_and_exit(int)
{
    // Nothing to do when even this cannot be written.
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, notice_text.data(), notice_size);
    ::_exit(static_cast<int>(ExitCode::kInterrupted));
}

extern "C" void set_flag_once(int)
{
    is_interrupted = true;
    std::signal(SIGINT, SIG_DFL);
}

} // namespace

InterruptNotice::InterruptNotice(const std::string& text)
{
    // The cursor stands after the terminal's "^C".
    const std::string whole = "\n" + text;
    notice_size = std::min(whole.size(), notice_text.size());
    std::copy_n(whole.begin(), notice_size, notice_text.begin());
    std::signal(SIGINT, print_notice_and_exit);
}

InterruptNotice::~InterruptNotice()
{
    std::signal(SIGINT, SIG_DFL);
}

InterruptFlag::InterruptFlag()
{
    is_interrupted = false;
    std::signal(SIGINT, set_flag_once);
}

InterruptFlag::~InterruptFlag()
{
    std::signal(SIGINT, SIG_DFL);
}

const std::atomic<bool>& InterruptFlag::is_set() const
{
    return is_interrupted;
}

} // namespace fathom::cli
