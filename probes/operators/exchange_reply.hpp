#pragma once

#include "core/base/result.hpp"

#include <string>
#include <string_view>

/// The lines that fathom-mpi-probe (probes/mpi) and fathom-tcp-probe (probes/tcp) answer with. Other lines of its
/// standard output are MPI's own, or its launcher's. All are text of another process: bounded and checked here. The
/// parsers' @error is kUnavailable: the line is another, or says what cannot be.
namespace fathom::probes {

inline constexpr std::string_view kExchangeReplyPrefix = "fathom-exchange ";
/// Of a line, its end included.
inline constexpr std::size_t kMaxExchangeReplyBytes = 512;

/// Said once all processes are there.
struct ExchangeReady {
    int processes{};     ///< at least 2
    int hosts{};         ///< at least 1
    bool is_crowded{};   ///< there are fewer processors than processes somewhere
    std::string library; ///< "Open MPI v4.1.4"; at most 100 bytes
};
Result<ExchangeReady> parse_exchange_ready(std::string_view line);

/// Seconds that the asked executions took: greater than 0.
Result<double> parse_exchange_done(std::string_view line);

/// Of what the processes have received.
struct ExchangeChecked {
    double error{};       ///< the largest of all processes
    std::string checksum; ///< 16 hex digits
};
Result<ExchangeChecked> parse_exchange_checked(std::string_view line);

/// The library's name, of `fathom-mpi-probe --library`.
Result<std::string> parse_exchange_library(std::string_view line);

} // namespace fathom::probes
