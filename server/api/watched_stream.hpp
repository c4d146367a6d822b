#pragma once

#include "core/net/http.hpp"

#include <chrono>
#include <functional>
#include <memory>

namespace fathom::server {

/// Asks whether who asked for an answer may still have it.
using StillAllowed = std::function<net::asio::awaitable<bool>()>;

/// The stream of an answer, cut off when its reader's rights end: `allowed` is asked every `period`, at the next piece
/// or pause. Cut off, not ended: the client must not take what it has for all there was.
std::function<net::asio::awaitable<void>(std::shared_ptr<net::BodyWriter>)>
watch_stream(std::function<net::asio::awaitable<void>(std::shared_ptr<net::BodyWriter>)> stream, StillAllowed allowed,
             std::chrono::milliseconds period);

} // namespace fathom::server
