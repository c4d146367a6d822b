#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <cstddef>
#include <thread>
#include <vector>

namespace fathom::server {

/// Threads that run an io_context. Stopped and joined at the latest when it is destroyed.
class IoThreads {
  public:
    IoThreads(boost::asio::io_context& context, std::size_t count);
    ~IoThreads() { stop(); }
    IoThreads(const IoThreads&) = delete;
    IoThreads& operator=(const IoThreads&) = delete;

    void stop();

  private:
    boost::asio::io_context* context_;
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
    std::vector<std::thread> threads_;
};

} // namespace fathom::server
