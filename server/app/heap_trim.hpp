#pragma once

#include <boost/asio/awaitable.hpp>

namespace fathom::server {

/// Lets the process have as many heaps as it has cores, and two at least. The allocator would make eight for each core,
/// each of which keeps what the largest work of any thread took there: behind a long line of jobs most of fathomd's
/// memory. To be called before there are threads.
void limit_heaps();

/// Gives memory that was freed back to the system, every 15 s, until it is cancelled. The allocator itself keeps, for
/// each thread of the database, what the largest result took there: of 10 000 centers a third of fathomd's memory.
boost::asio::awaitable<void> trim_heap();

} // namespace fathom::server
