#include "server/jobs/log_stream.hpp"

#include "core/base/log.hpp"

#include <algorithm>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

/// Output is read from its rows: a wake-up for each piece would cost more than these looks. Where nothing comes they
/// grow rare, since many may follow jobs that write little.
constexpr std::chrono::milliseconds kFirstPause = 200ms;
constexpr std::chrono::milliseconds kMaxPause = 2s;

/// One look at a job's output.
struct LogLook {
    OutputState state;
    std::vector<OutputPiece> pieces;

    /// Whether nothing comes behind that position.
    bool is_end(std::int64_t position) const
    {
        return state.is_closed || (state.end_bytes && position >= *state.end_bytes);
    }
};

Result<LogLook> look_at(pqxx::work& transaction, const LogRequest& request, std::int64_t position)
{
    const std::optional<OutputState> state =
        select_output_state(transaction, request.job, request.stream, request.attempt);
    if (!state) return Error{Errc::kNotFound, "there is no such job"};
    LogLook look;
    // The state before the pieces: when it says that nothing more comes, all of them are there.
    look.state = *state;
    if (state->attempt) look.pieces = select_output(transaction, *state->attempt, request.stream, position);
    return look;
}

} // namespace

asio::awaitable<void> stream_log(Database& database, LogRequest request, std::shared_ptr<net::BodyWriter> writer)
{
    std::int64_t position = request.offset_bytes;
    std::optional<AttemptId> shown;
    std::chrono::milliseconds pause = kFirstPause;
    for (;;) {
        auto work = [&](pqxx::work& transaction) -> Result<LogLook> { return look_at(transaction, request, position); };
        std::shared_ptr<const void> turn = co_await request.turns.take();
        const Result<LogLook> look = co_await database.run(std::move(work));
        turn.reset();
        if (!look) {
            // The head has gone out: an answer that is cut short is all that can tell the client.
            throw_exception_from_error(look.error(), BOOST_CURRENT_LOCATION);
        }
        const bool is_placed_anew = shown.has_value() && shown != look->state.attempt;
        shown = look->state.attempt;
        if (is_placed_anew) {
            position = 0; // the output of the new attempt begins at its own start
            continue;
        }
        std::string text = join_output(look->pieces, look->state.is_closed, position);
        if (!text.empty()) {
            const Result<void> sent = co_await writer->write(std::move(text));
            if (!sent) co_return;
            pause = kFirstPause;
            continue;
        }
        if (look->is_end(position) || request.until == LogRequest::Until::kNow) co_return;
        const Result<void> slept = co_await writer->sleep(pause);
        if (!slept) co_return;
        pause = std::min(2 * pause, kMaxPause);
    }
}

} // namespace fathom::server
