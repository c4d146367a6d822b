#include "agent/app/supervise_command.hpp"

#include "agent/executor/local/fork_server.hpp"
#include "agent/executor/local/supervise.hpp"
#include "agent/executor/local/system_call_filter.hpp"
#include "core/base/process_limits.hpp"

#include <cstdlib>
#include <iostream>
#include <optional>
#include <utility>

namespace fathom::agent {

int supervise_command(int argc, const char* const* argv)
{
    const Result<Isolation> isolation =
        argc == 3 ? decode_isolation(argv[2]) : Result<Isolation>(Error{Errc::kInvalid, "not the agent's call"});
    if (!isolation) {
        std::cerr << "fathom-agent supervise: is started by fathom-agent run only\n";
        return 2;
    }
    set_descriptor_limit(std::strtoul(argv[1], nullptr, 10)); // the agent itself may have more
    // Made once, for all that are forked.
    const std::optional<SystemCallFilter> filter =
        isolation->filters_system_calls ? std::optional<SystemCallFilter>(std::in_place) : std::nullopt;
    if (serve_forks()) supervise(*isolation, filter ? &*filter : nullptr);
    return 0;
}

} // namespace fathom::agent
