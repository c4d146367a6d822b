#include "server/app/io_threads.hpp"

namespace fathom::server {

IoThreads::IoThreads(boost::asio::io_context& context, std::size_t count)
    : context_(&context), work_(boost::asio::make_work_guard(context))
{
    for (std::size_t i = 0; i < count; ++i)
        threads_.emplace_back([this] { context_->run(); });
}

void IoThreads::stop()
{
    work_.reset();
    context_->stop();
    for (std::thread& thread : threads_)
        if (thread.joinable()) thread.join();
}

} // namespace fathom::server
