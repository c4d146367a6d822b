#include "server/api/watched_stream.hpp"

#include <algorithm>

namespace fathom::server {
namespace {

using Stream = std::function<net::asio::awaitable<void>(std::shared_ptr<net::BodyWriter>)>;

/// Runs on: the connection's strand, as the writer that it stands before.
class WatchedWriter final : public net::BodyWriter {
  public:
    WatchedWriter(std::shared_ptr<net::BodyWriter> writer, StillAllowed allowed, std::chrono::milliseconds period)
        : writer_(std::move(writer)), allowed_(std::move(allowed)), period_(period), next_(now() + period)
    {
    }

    net::asio::awaitable<Result<void>> write(std::string chunk) override
    {
        const Result<void> checked = co_await check();
        if (!checked) co_return checked;
        co_return co_await writer_->write(std::move(chunk));
    }

    net::asio::awaitable<Result<void>> sleep(std::chrono::milliseconds duration) override
    {
        const auto end = now() + duration;
        for (;;) {
            const Result<void> checked = co_await check();
            if (!checked) co_return checked;
            const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - now());
            if (left.count() <= 0) co_return Result<void>();
            const Result<void> slept = co_await writer_->sleep(std::min(left, period_));
            if (!slept) co_return slept;
        }
    }

    bool was_cut_off() const { return cut_off_; }

  private:
    static std::chrono::steady_clock::time_point now() { return std::chrono::steady_clock::now(); }

    net::asio::awaitable<Result<void>> check()
    {
        if (!cut_off_ && now() >= next_) {
            const bool is_allowed = co_await allowed_();
            cut_off_ = !is_allowed;
            next_ = now() + period_;
        }
        if (cut_off_) co_return Error{Errc::kUnauthenticated, "the token is expired or revoked"};
        co_return Result<void>();
    }

    const std::shared_ptr<net::BodyWriter> writer_;
    const StillAllowed allowed_;
    const std::chrono::milliseconds period_;
    std::chrono::steady_clock::time_point next_;
    bool cut_off_ = false;
};

net::asio::awaitable<void> run(std::shared_ptr<const Stream> stream, std::shared_ptr<WatchedWriter> writer)
{
    co_await (*stream)(writer);
    if (writer->was_cut_off()) throw std::runtime_error("the token is expired or revoked");
}

} // namespace

Stream watch_stream(Stream stream, StillAllowed allowed, std::chrono::milliseconds period)
{
    auto shared = std::make_shared<const Stream>(std::move(stream));
    return [shared, allowed = std::move(allowed), period](std::shared_ptr<net::BodyWriter> writer) {
        return run(shared, std::make_shared<WatchedWriter>(std::move(writer), allowed, period));
    };
}

} // namespace fathom::server
