#include "agent/app/probe_request.hpp"

#include "agent/app/agent_folder.hpp"
#include "core/base/file.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>

namespace fathom::agent {
namespace {

constexpr std::size_t kMaxReasonLength = 500;
constexpr std::size_t kLargestFile = 64UL << 10U;
constexpr const char* kDefaultReason = "asked for at the center";

/// As the agent's user in the agent's folder: root would follow what that user has laid there.
Result<void> leave_request(const std::filesystem::path& state_dir, const std::string& reason)
{
    const Result<AgentFolder> folder = open_agent_folder(state_dir);
    if (!folder) return folder.error();
    if (Result<void> entered = enter(*folder); !entered) return entered;
    if (folder->user && !become(*folder->user))
        return Error{Errc::kUnavailable, "cannot become the user " + folder->user->name};
    return ProbeRequestFile(".").leave(reason);
}

} // namespace

Result<void> ProbeRequestFile::leave(const std::string& reason) const
{
    return write_file(path_, reason + "\n", 0600);
}

std::optional<std::string> ProbeRequestFile::find() const
{
    std::error_code ignored;
    if (!std::filesystem::exists(path_, ignored)) return std::nullopt;
    const Result<std::string> text = read_file(path_, kLargestFile);
    // Whatever stands there: somebody has asked.
    return clean_reason(text ? *text : std::string());
}

void ProbeRequestFile::remove() const
{
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
}

std::string clean_reason(const std::string& text)
{
    // ASCII only, so that no character is cut in two and every reader can show it.
    std::string reason;
    for (const char c : text) {
        if (reason.size() == kMaxReasonLength) break;
        if (c >= 0x20 && c < 0x7F) reason += c;
    }
    while (!reason.empty() && reason.back() == ' ')
        reason.pop_back();
    return reason.empty() ? kDefaultReason : reason;
}

int request_probes_command(int argc, const char* const* argv)
{
    std::filesystem::path state_dir;
    std::string reason;
    CLI::App app("Asks the metascheduler to measure this center anew, after a repair or a change that its catalog does "
                 "not show.",
                 "fathom-agent request-probes");
    app.add_option("--state-dir", state_dir, "state folder of this center's agent")->required();
    app.add_option("--reason", reason, "why, for people: up to 500 characters");
    app.footer("Example: fathom-agent request-probes --state-dir /var/lib/fathom-agent --reason \"memory replaced\"\n"
               "The agent passes it on within a second, or when it runs again; probes follow as the center's budget "
               "allows.\n"
               "Exit codes: 0 noted, 1 failed, 2 wrong use.");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? 0 : 2;
    }
    if (!is_enrolled(state_dir)) {
        std::cerr << "fathom-agent request-probes: " << state_dir.string()
                  << " is not enrolled: first run fathom-agent enrol (see its --help)\n";
        return 1;
    }
    const Result<void> left = leave_request(state_dir, clean_reason(reason));
    if (!left) {
        std::cerr << "fathom-agent request-probes: " << describe(left.error()) << "\n";
        return 1;
    }
    std::cout << "noted; the agent passes it on to the metascheduler\n";
    return 0;
}

} // namespace fathom::agent
