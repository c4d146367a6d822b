#pragma once

#include <boost/asio/awaitable.hpp>

namespace fathom::server {

/// Gives memory that was freed back to the system, every 15 s, until it is cancelled. The allocator itself keeps, for
/// each thread of the database, what the largest result took there: of 10 000 centers a third of fathomd's memory.
boost::asio::awaitable<void> trim_heap();

} // namespace fathom::server
