#include "agent/jobs/output_feed.hpp"

#include "core/base/log.hpp"

namespace fathom::agent {
namespace {

constexpr std::size_t kMaxTravelling = 4;

} // namespace

std::optional<link::Message> OutputFeed::next(Executor& executor)
{
    if (travelling_.size() >= kMaxTravelling) return std::nullopt;
    Result<std::string> data = executor.read_output(attempt_, stream_, sent_bytes_, link::kMaxOutputBytes);
    if (!data) {
        log_warning("output_unreadable", {{"attempt_id", attempt_.value}, {"reason", data.error().detail}});
        return std::nullopt;
    }
    if (data->empty()) return std::nullopt;
    const auto size = static_cast<std::int64_t>(data->size());
    link::Message message = link::make_message(
        link::AttemptOutput{attempt_, std::string(to_string(stream_)), sent_bytes_, std::move(*data)});
    sent_bytes_ += size;
    travelling_.push_back({message.id, sent_bytes_, false});
    return message;
}

bool OutputFeed::acknowledge(const MessageId& id)
{
    const auto piece = std::find_if(travelling_.begin(), travelling_.end(),
                                    [&](const Piece& candidate) { return candidate.message == id; });
    if (piece == travelling_.end()) return false;
    piece->acked = true;
    // Only an unbroken beginning counts, in whatever order the answers come.
    while (!travelling_.empty() && travelling_.front().acked) {
        acked_bytes_ = travelling_.front().end_bytes;
        travelling_.pop_front();
    }
    return true;
}

void OutputFeed::connection_lost()
{
    travelling_.clear();
    sent_bytes_ = acked_bytes_;
}

bool OutputFeed::is_done(Executor& executor) const
{
    if (!travelling_.empty()) return false;
    const Result<std::string> more = executor.read_output(attempt_, stream_, acked_bytes_, 1);
    return !more || more->empty(); // what cannot be read can never be sent
}

} // namespace fathom::agent
