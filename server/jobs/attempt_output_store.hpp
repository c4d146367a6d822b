#pragma once

#include "server/ports/attempt_gateway.hpp"
#include "server/store/transaction.hpp"

#include <span>
#include <string>
#include <vector>

/// What attempts wrote. All functions take the caller's transaction, block, and let pqxx's exceptions through.
namespace fathom::server {

/// Of one stream of an attempt; agents keep 16 MiB unless told otherwise. What is beyond is not kept.
inline constexpr std::int64_t kMaxOutput_bytes = 256LL << 20U;

struct NewOutput {
    Reporter reporter;
    link::AttemptOutput output;
};
enum class OutputFate {
    kTaken, ///< kept; or of an attempt that has ended, or beyond what is kept of a stream, and left out
    kNotOfCenter,
    kSuperseded, ///< its session does not speak for the center any more
};
/// Keeps the pieces; a repeat changes nothing. Pieces of a stream have room for each of its bytes once: those that
/// would take more than the stream has are left out. What goes beyond `most_bytes` of a job is left out, too, and its
/// history says so once; 0: nothing is. Probes have no such limit.
std::vector<OutputFate> insert_output(pqxx::work& transaction, std::span<const NewOutput> pieces,
                                      std::int64_t most_bytes);
/// What an attempt wrote to stdout, at most `limit_bytes`.
std::string select_stdout(pqxx::work& transaction, const AttemptId& attempt, std::size_t limit_bytes);
/// The end of what it wrote to stderr: the last piece, up to 256 KiB.
std::string select_stderr_end(pqxx::work& transaction, const AttemptId& attempt);

} // namespace fathom::server
