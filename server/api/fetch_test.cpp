#include "server/api/fetch_test.hpp"

#include "core/base/json_reader.hpp"
#include "core/base/parse_number.hpp"
#include "core/net/network.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

namespace fathom::server {
namespace {

/// The bytes repeat after this many: 65536·131 and 256·31 are both multiples of 256.
constexpr std::size_t kPeriodBytes = 65536;
constexpr std::size_t kPieceBytes = 4 * kPeriodBytes;
constexpr std::int64_t kLargestSeed = 1LL << 40U;

/// Counts the answers that are being sent. Thread-safe.
class OpenStreams {
  public:
    explicit OpenStreams(const FetchTestLimits& limits) : limits_(limits) {}

    const FetchTestLimits& limits() const { return limits_; }

    Result<void> open(const std::string& address)
    {
        const std::scoped_lock lock(mutex_);
        if (total_ >= limits_.streams)
            return Error{Errc::kTooMany,
                         "this server sends " + std::to_string(total_) + " test answers already; try again later"};
        std::size_t& count = of_address_[address];
        if (count >= limits_.streams_of_one_address)
            return Error{Errc::kTooMany,
                         "this address gets " + std::to_string(count) + " test answers already; wait for one to end"};
        ++count;
        ++total_;
        return {};
    }

    void close(const std::string& address)
    {
        const std::scoped_lock lock(mutex_);
        --total_;
        const auto entry = of_address_.find(address);
        if (--entry->second == 0) of_address_.erase(entry);
    }

  private:
    const FetchTestLimits limits_;
    std::mutex mutex_;
    std::size_t total_ = 0;
    std::map<std::string, std::size_t> of_address_;
};

/// One answer's place among the open streams, given back however the answer ends.
class StreamPlace {
  public:
    StreamPlace(std::shared_ptr<OpenStreams> streams, std::string address)
        : streams_(std::move(streams)), address_(std::move(address))
    {
    }
    ~StreamPlace() { streams_->close(address_); }
    StreamPlace(const StreamPlace&) = delete;
    StreamPlace& operator=(const StreamPlace&) = delete;

  private:
    std::shared_ptr<OpenStreams> streams_;
    std::string address_;
};

struct FetchOrder {
    std::int64_t bytes{};
    std::int64_t seed{};
};

/// A whole number of the query; reports what is wrong with it.
std::int64_t read_number(const net::Request& request, const std::string& name, std::int64_t min, std::int64_t max,
                         std::vector<FieldError>& errors)
{
    const auto value = parse_number<std::int64_t>(request.query.at(name));
    if (!value || *value < min || *value > max)
        errors.push_back(
            {name, "must be a whole number between " + std::to_string(min) + " and " + std::to_string(max)});
    return value.value_or(0);
}

Result<FetchOrder> parse_order(const net::Request& request, std::int64_t most_bytes)
{
    std::vector<FieldError> errors;
    FetchOrder order;
    if (request.query.contains("bytes"))
        order.bytes = read_number(request, "bytes", 1, most_bytes, errors);
    else
        errors.push_back({"bytes", "is required"});
    if (request.query.contains("seed")) order.seed = read_number(request, "seed", 0, kLargestSeed, errors);
    for (const auto& [name, value] : request.query) {
        if (name != "bytes" && name != "seed") errors.push_back({name, "is not a parameter of this"});
    }
    return value_or_errors(order, std::move(errors), "the query");
}

/// What every piece of the answer looks like, since pieces are whole periods.
std::string make_piece(std::int64_t seed)
{
    std::string piece;
    piece.reserve(kPieceBytes);
    for (std::size_t i = 0; i < kPieceBytes; ++i)
        piece += static_cast<char>((i * 131 + (i >> 8U) * 31 + static_cast<std::size_t>(seed)) & 0xFFU);
    return piece;
}

net::asio::awaitable<void> send_bytes(FetchOrder order, std::chrono::steady_clock::time_point deadline,
                                      std::shared_ptr<net::BodyWriter> writer)
{
    const std::string piece = make_piece(order.seed);
    // An answer that is cut short is all that can tell the client: its head is out.
    for (std::int64_t left = order.bytes; left > 0 && std::chrono::steady_clock::now() < deadline;) {
        const std::size_t size = std::min(kPieceBytes, static_cast<std::size_t>(left));
        const Result<void> sent = co_await writer->write(piece.substr(0, size));
        if (!sent) co_return;
        left -= static_cast<std::int64_t>(size);
    }
}

net::Response start_answer(const std::shared_ptr<OpenStreams>& streams, const net::Request& request)
{
    const Result<FetchOrder> order = parse_order(request, streams->limits().bytes);
    if (!order) return net::problem(order.error(), request.request_id);
    const std::string host = net::network_of(request.remote_address);
    if (const Result<void> opened = streams->open(host); !opened) {
        net::Response refusal = net::problem(opened.error(), request.request_id);
        refusal.headers["Retry-After"] = "1";
        return refusal;
    }
    auto place = std::make_shared<const StreamPlace>(streams, host);
    const auto deadline = std::chrono::steady_clock::now() + streams->limits().time;
    net::Response response;
    response.headers["Content-Type"] = "application/octet-stream";
    response.headers["Cache-Control"] = "no-store, no-transform";
    response.headers["Content-Length"] = std::to_string(order->bytes);
    response.stream = [place = std::move(place), order = *order, deadline](std::shared_ptr<net::BodyWriter> writer) {
        return send_bytes(order, deadline, std::move(writer));
    };
    return response;
}

net::asio::awaitable<net::Response> answer(net::Response response)
{
    co_return response;
}

} // namespace

net::Handler make_fetch_test(const FetchTestLimits& limits)
{
    auto streams = std::make_shared<OpenStreams>(limits);
    return [streams](const net::Request& request) { return answer(start_answer(streams, request)); };
}

} // namespace fathom::server
