#pragma once

#include "core/base/result.hpp"

#include <string>
#include <string_view>

/// The lines that fathom-mpi-probe (probes/mpi) answers with. Other lines of its standard output are MPI's own, or its
/// launcher's. All are text of another process: bounded and checked here.
/// The parsers' @error is kUnavailable: the line is another, or says what cannot be.
namespace fathom::probes {

inline constexpr std::string_view kMpiReplyPrefix = "fathom-mpi ";
/// Of a line, its end included.
inline constexpr std::size_t kMaxMpiReplyBytes = 512;

/// Said once all processes are there.
struct MpiReady {
    int processes{};     ///< at least 2
    int hosts{};         ///< at least 1
    bool is_crowded{};   ///< there are fewer processors than processes somewhere
    std::string library; ///< "Open MPI v4.1.4"; at most 100 bytes
};
Result<MpiReady> parse_mpi_ready(std::string_view line);

/// Seconds that the asked executions took: greater than 0.
Result<double> parse_mpi_done(std::string_view line);

/// Of what the processes have received.
struct MpiChecked {
    double error{};       ///< the largest of all processes
    std::string checksum; ///< 16 hex digits
};
Result<MpiChecked> parse_mpi_checked(std::string_view line);

/// The library's name, of `fathom-mpi-probe --library`.
Result<std::string> parse_mpi_library(std::string_view line);

} // namespace fathom::probes
