#include "tests/support/test_io.hpp"

namespace fathom::test {

TestIo::TestIo() : work_(asio::make_work_guard(context_))
{
    for (int i = 0; i < 2; ++i)
        threads_.emplace_back([this] { context_.run(); });
}

TestIo::~TestIo()
{
    work_.reset();
    context_.stop();
    for (std::thread& thread : threads_)
        thread.join();
}

bool eventually(const std::function<bool()>& condition, std::chrono::milliseconds limit)
{
    const auto end = std::chrono::steady_clock::now() + limit;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
}

} // namespace fathom::test
