#include "server/app/backup/run_tools.hpp"

#include "core/base/error_text.hpp"
#include "core/base/wait_for_child.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fathom::server {
namespace {

constexpr int kTick_ms = 500;
constexpr std::size_t kMaxQuotedBytes = 2000; // bytes of what failed programs wrote in an error

/// What the programs write, taken apart into lines.
class Words {
  public:
    explicit Words(const ToolWatch& watch) : watch_(&watch) {}

    void add(std::string_view text)
    {
        open_line_ += text;
        std::size_t start = 0;
        for (std::size_t end = open_line_.find('\n'); end != std::string::npos; end = open_line_.find('\n', start)) {
            take_line(open_line_.substr(start, end - start));
            start = end + 1;
        }
        open_line_.erase(0, start);
    }

    std::string kept() const
    {
        std::string text = kept_ + open_line_;
        while (text.ends_with('\n'))
            text.pop_back();
        return text;
    }

  private:
    void take_line(const std::string& line)
    {
        if (!watch_->on_line(line)) return;
        kept_ += line + "\n";
        // The first errors tell the cause.
        if (kept_.size() > kMaxQuotedBytes) kept_.resize(kMaxQuotedBytes);
    }

    const ToolWatch* watch_;
    std::string open_line_;
    std::string kept_;
};

void end_all(const std::vector<pid_t>& children)
{
    for (const pid_t child : children)
        kill(child, SIGTERM);
}

/// Until every program has closed its end.
void hear(const OpenFile& source, const std::vector<pid_t>& children, StopRequest& stop, const ToolWatch& watch,
          Words& words)
{
    bool is_ending = false;
    for (;;) {
        std::array<pollfd, 2> waits{{{source.number(), POLLIN, 0}, {is_ending ? -1 : stop.descriptor(), POLLIN, 0}}};
        if (poll(waits.data(), waits.size(), kTick_ms) < 0 && errno != EINTR) return;
        if (!is_ending && stop.seen()) {
            is_ending = true;
            end_all(children);
        }
        watch.on_tick();
        if (waits[0].revents == 0) continue;
        char buffer[4096];
        const ssize_t size = read(source.number(), buffer, sizeof buffer);
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) return;
        words.add({buffer, static_cast<std::size_t>(size)});
    }
}

/// "PROGRAM ended with exit code 1" for the first that failed; empty when none did.
std::string reap_all(const std::vector<pid_t>& children, const std::vector<ChildOptions>& programs)
{
    std::string failure;
    for (std::size_t i = 0; i < children.size(); ++i) {
        int status = 0;
        const pid_t ended = reap_child(children[i], status);
        if (failure.empty() && (ended < 0 || status != 0))
            failure = programs[i].arguments[0] + " ended with " + describe_exit(status);
    }
    return failure;
}

} // namespace

Result<void> run_tools(std::vector<ChildOptions> programs, std::vector<OpenFile> held, StopRequest& stop,
                       const ToolWatch& watch)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return Error{Errc::kUnavailable, "pipe: " + error_text(errno)};
    const OpenFile source(ends[0]);
    OpenFile sink(ends[1]);
    std::vector<pid_t> children;
    Result<void> outcome;
    for (ChildOptions& program : programs) {
        program.errors = sink.number();
        program.signal_on_parent_death = SIGTERM;
        const Result<pid_t> child = start_child(program);
        if (!child) {
            outcome = child.error();
            end_all(children);
            break;
        }
        children.push_back(*child);
    }
    held.clear();
    sink = OpenFile();
    Words words(watch);
    hear(source, children, stop, watch, words);
    const std::string failure = reap_all(children, programs);
    if (stop.seen()) return Error{Errc::kConflict, "stopped"};
    if (outcome && !failure.empty()) outcome = Error{Errc::kUnavailable, failure + ": " + words.kept()};
    return outcome;
}

} // namespace fathom::server
