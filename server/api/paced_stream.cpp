#include "server/api/paced_stream.hpp"

#include <stdexcept>

namespace fathom::server {
namespace {

using net::asio::awaitable;
using PacedStream = std::function<awaitable<void>(std::shared_ptr<net::BodyWriter>)>;
using PacedClock = std::function<std::chrono::steady_clock::time_point()>;

/// A page in one piece would be noted only when a slow reader has taken all of it. The connection's time to write is
/// for as much.
constexpr std::size_t kPacedPieceBytes = 256UL << 10U;

/// Runs on: the connection's strand, as the writer that it stands before.
class PacedWriter final : public net::BodyWriter {
  public:
    PacedWriter(std::shared_ptr<net::BodyWriter> writer, NoteTaken note, PacedClock now)
        : writer_(std::move(writer)), note_(std::move(note)), now_(std::move(now))
    {
    }

    awaitable<Result<void>> write(std::string chunk) override
    {
        for (std::size_t sent = 0; sent < chunk.size(); sent += kPacedPieceBytes) {
            std::string piece = chunk.substr(sent, kPacedPieceBytes);
            const std::size_t size = piece.size();
            const auto began = now_();
            const Result<void> written = co_await writer_->write(std::move(piece));
            if (!written) co_return written;
            const Result<void> noted = note_(size, now_() - began);
            if (noted) continue;
            cut_off_ = noted.error().detail;
            co_return noted;
        }
        co_return Result<void>();
    }

    awaitable<Result<void>> sleep(std::chrono::milliseconds duration) override
    {
        co_return co_await writer_->sleep(duration);
    }

    /// Why; empty: it was not.
    const std::string& cut_off() const { return cut_off_; }

  private:
    const std::shared_ptr<net::BodyWriter> writer_;
    const NoteTaken note_;
    const PacedClock now_;
    std::string cut_off_;
};

awaitable<void> run_paced(std::shared_ptr<const PacedStream> stream, std::shared_ptr<PacedWriter> writer)
{
    co_await (*stream)(writer);
    if (!writer->cut_off().empty()) throw std::runtime_error(writer->cut_off());
}

} // namespace

void ReaderPace::note(std::size_t bytes, std::chrono::steady_clock::duration took)
{
    bytes_ += bytes;
    took_ += took;
    if (took_ < kWindow) return;
    last_ = static_cast<double>(bytes_) / std::chrono::duration<double>(took_).count();
    bytes_ = 0;
    took_ = {};
}

std::string kib_per_s(double bytes_per_s)
{
    constexpr double kKib = 1024;
    return std::to_string(static_cast<std::int64_t>(bytes_per_s / kKib)) + " KiB a second";
}

std::function<awaitable<void>(std::shared_ptr<net::BodyWriter>)> pace_stream(PacedStream stream, NoteTaken note,
                                                                             PacedClock now)
{
    auto shared = std::make_shared<const PacedStream>(std::move(stream));
    return [shared, note = std::move(note), now = std::move(now)](std::shared_ptr<net::BodyWriter> writer) {
        return run_paced(shared, std::make_shared<PacedWriter>(std::move(writer), note, now));
    };
}

} // namespace fathom::server
