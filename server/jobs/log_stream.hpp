#pragma once

#include "core/net/http.hpp"
#include "server/api/token_line.hpp"
#include "server/jobs/jobs_store.hpp"
#include "server/store/database.hpp"

#include <memory>
#include <optional>
#include <string>

namespace fathom::server {

/// Which bytes of a job's output a client wants.
struct LogRequest {
    JobId job;
    std::string stream; ///< "stdout" or "stderr"
    std::int64_t offset_bytes{};
    enum class Until { kNow, kEnd } until = Until::kNow; ///< kEnd: of the attempt, or else of the job
    TokenTurns turns{};                                  ///< of the client, one for each look
    std::optional<AttemptId> attempt{};                  ///< of the job; empty: the newest, and those that follow it
};

/// Writes the output of an attempt of a job to one client: what is there, or all that comes until the end. Bytes go out
/// as the job wrote them.
asio::awaitable<void> stream_log(Database& database, LogRequest request, std::shared_ptr<net::BodyWriter> writer);

} // namespace fathom::server
