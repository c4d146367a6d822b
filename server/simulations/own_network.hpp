#pragma once

#include "core/net/task_group.hpp"
#include "server/api/api_router.hpp"
#include "simulator/live/network_source.hpp"

#include <atomic>

namespace fathom::server {

/// This network, asked by the routes of its own REST interface with the rights of one caller. Questions run on the
/// network's threads; the calling thread, which must be none of these, waits for each answer. Not thread-safe.
class OwnNetwork final : public simulation::NetworkSource {
  public:
    /// What is asked, and how.
    struct Means {
        const ApiRouter* api{};
        net::TaskGroup* tasks{}; ///< in which questions run
        asio::any_io_executor executor;
    };
    /// @param stop  once it is set, no question is waited for any more.
    OwnNetwork(Means means, Principal caller, const std::atomic<bool>& stop)
        : means_(std::move(means)), caller_(std::move(caller)), stop_(&stop)
    {
    }

    // @error kUnavailable  it was stopped. Others as the route says. A route that is asked too often is asked again
    // after a pause.
    Result<Json> get(std::string_view path, const Query& query) override;
    Result<Json> post(std::string_view path, const Json& body) override;

  private:
    Result<Json> ask(const net::Request& request);
    Result<net::Response> ask_once(net::Request request);

    Means means_;
    Principal caller_;
    const std::atomic<bool>* stop_;
};

} // namespace fathom::server
