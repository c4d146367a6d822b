#pragma once

#include <cstdint>

/// What fathom-probe tells the programs whose processes execute an operator, a line each ("run 1000", "check"). The end
/// of their input ends them. They answer as probes/operators/exchange_reply.hpp says.
namespace fathom::probes {

enum class ExchangeTask : std::int64_t { kEnd, kRun, kCheck };

struct ExchangeCommand {
    ExchangeTask task = ExchangeTask::kEnd;
    std::int64_t count{}; ///< executions of kRun, at least 1
};

/// The next line of standard input; the end of the input, and what is no command, ends.
ExchangeCommand read_exchange_command();

} // namespace fathom::probes
