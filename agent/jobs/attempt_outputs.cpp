#include "agent/jobs/attempt_outputs.hpp"

#include <utility>

namespace fathom::agent {

void AttemptOutputs::add(const AttemptId& attempt, std::int64_t stdout_acked, std::int64_t stderr_acked)
{
    streams_.try_emplace(attempt, Streams{OutputFeed(attempt, OutputStream::kStdout, stdout_acked),
                                          OutputFeed(attempt, OutputStream::kStderr, stderr_acked)});
}

void AttemptOutputs::remove(const AttemptId& attempt)
{
    streams_.erase(attempt);
    std::erase_if(travelling_, [&](const auto& piece) {
        if (piece.second.attempt != attempt) return false;
        travelling_bytes_ -= piece.second.bytes;
        return true;
    });
}

void AttemptOutputs::wait_for_start(const AttemptId& attempt)
{
    const auto found = streams_.find(attempt);
    if (found != streams_.end()) found->second.waits_for_start = true;
}

void AttemptOutputs::note_started(const AttemptId& attempt)
{
    const auto found = streams_.find(attempt);
    if (found == streams_.end()) return;
    found->second.waits_for_start = false;
    note_written(attempt);
}

void AttemptOutputs::note_written(const AttemptId& attempt)
{
    const auto found = streams_.find(attempt);
    if (found == streams_.end() || std::exchange(found->second.is_queued, true)) return;
    turns_.push_back(attempt);
}

bool AttemptOutputs::has_room(std::size_t most_pieces, std::size_t most_bytes) const
{
    return travelling_.size() < most_pieces && travelling_bytes_ < most_bytes;
}

bool AttemptOutputs::send_piece(const AttemptId& attempt, OutputFeed& feed, std::vector<link::Message>& messages)
{
    std::optional<link::Message> piece = feed.next(executor_);
    if (!piece) return false;
    const std::size_t bytes = std::get<link::AttemptOutput>(piece->body).data.size();
    travelling_.emplace(piece->id, Travelling{attempt, bytes});
    travelling_bytes_ += bytes;
    messages.push_back(std::move(*piece));
    return true;
}

std::vector<link::Message> AttemptOutputs::next(std::size_t most)
{
    std::vector<link::Message> messages;
    while (!turns_.empty() && messages.size() < most && has_room(kMaxTravelling, kMaxTravellingBytes)) {
        const AttemptId attempt = std::move(turns_.front());
        turns_.pop_front();
        const auto found = streams_.find(attempt);
        if (found == streams_.end()) continue;
        if (found->second.waits_for_start) {
            found->second.is_queued = false;
            continue;
        }
        const bool sent_out = send_piece(attempt, found->second.out, messages);
        const bool sent_err = send_piece(attempt, found->second.err, messages);
        found->second.is_queued = sent_out || sent_err;
        if (found->second.is_queued) turns_.push_back(attempt);
    }
    return messages;
}

std::vector<link::Message> AttemptOutputs::next_of(const AttemptId& attempt)
{
    std::vector<link::Message> messages;
    const auto found = streams_.find(attempt);
    if (found == streams_.end()) return messages;
    for (OutputFeed* feed : {&found->second.out, &found->second.err}) {
        while (has_room(kMaxTravellingBeforeEnd, kMaxTravellingBytesBeforeEnd) &&
               send_piece(attempt, *feed, messages)) {
        }
    }
    note_written(attempt); // the rest, if there is one, in its turn
    return messages;
}

std::optional<AttemptId> AttemptOutputs::acknowledged(const MessageId& message)
{
    const auto piece = travelling_.find(message);
    if (piece == travelling_.end()) return std::nullopt;
    AttemptId attempt = std::move(piece->second.attempt);
    travelling_bytes_ -= piece->second.bytes;
    travelling_.erase(piece);
    Streams& streams = streams_.at(attempt);
    if (!streams.out.acknowledge(message)) streams.err.acknowledge(message);
    streams.has_progress = true;
    note_written(attempt); // there is room for the next piece
    return attempt;
}

void AttemptOutputs::connection_lost()
{
    travelling_.clear();
    travelling_bytes_ = 0;
    for (auto& [attempt, streams] : streams_) {
        streams.out.connection_lost();
        streams.err.connection_lost();
        note_written(attempt);
    }
}

bool AttemptOutputs::is_done(const AttemptId& attempt) const
{
    const auto found = streams_.find(attempt);
    return found == streams_.end() || (found->second.out.is_done(executor_) && found->second.err.is_done(executor_));
}

std::vector<AttemptOutputs::Acked> AttemptOutputs::take_progress()
{
    std::vector<Acked> progress;
    for (auto& [attempt, streams] : streams_) {
        if (!std::exchange(streams.has_progress, false)) continue;
        progress.push_back({attempt, streams.out.acked_bytes(), streams.err.acked_bytes()});
    }
    return progress;
}

} // namespace fathom::agent
