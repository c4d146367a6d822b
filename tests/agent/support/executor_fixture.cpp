#include "tests/agent/support/executor_fixture.hpp"

#include "agent/config/cpu_list.hpp"
#include "core/base/file.hpp"
#include "core/base/json_reader.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace fathom::agent::test {

void wait_until(const std::function<bool()>& condition, const std::string& what)
{
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!condition()) {
        if (std::chrono::steady_clock::now() > limit) throw std::runtime_error("waited 60 s for " + what);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

std::filesystem::path agent_program()
{
    return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "fathom-agent";
}

LocalExecutorTest::LocalExecutorTest() : cpus_(allowed_cpus())
{
    options_.attempts = folder_.path() / "attempts";
    options_.supervisor = agent_program();
    options_.programs = agent_program().parent_path();
}

LocalExecutorTest::~LocalExecutorTest()
{
    for (const AttemptId& id : executor().known())
        executor().end_leftovers(id);
}

LocalExecutor& LocalExecutorTest::executor()
{
    if (!executor_) executor_ = std::make_unique<LocalExecutor>(options_);
    return *executor_;
}

void LocalExecutorTest::start(const AttemptOrder& order, std::vector<std::int64_t> cpus)
{
    if (cpus.empty()) cpus = {cpus_.front()};
    const Result<void> started = executor().start({order, std::move(cpus), 1, 0, {}});
    ASSERT_TRUE(started) << started.error().detail;
}

RunOrder LocalExecutorTest::order_of(const std::vector<std::string>& command, std::int64_t memory_bytes) const
{
    return {order(command), {cpus_.front()}, 1, memory_bytes, {}};
}

LocalExecutorTest::TwoServed LocalExecutorTest::serve_two(const RunOrder& first, const RunOrder& second)
{
    const auto start_anew = [&](RunOrder run) {
        run.order.attempt_id = AttemptId::make();
        executor().start(run).value();
        return run.order;
    };
    for (int tries = 0; tries < 20; ++tries) {
        const AttemptEnd end = wait_end(start_anew(first).attempt_id);
        const int supervisor = supervisor_of(end.attempt_id);
        for (int others = 0; others < 10; ++others) {
            const AttemptOrder started = start_anew(second);
            if (supervisor_of(started.attempt_id) == supervisor) return {end, started};
            executor().cancel(started.attempt_id);
            wait_end(started.attempt_id);
        }
    }
    throw std::runtime_error("no supervisor served twice");
}

AttemptEnd LocalExecutorTest::run(const AttemptOrder& order, std::vector<std::int64_t> cpus)
{
    start(order, std::move(cpus));
    return wait_end(order.attempt_id);
}

AttemptEnd LocalExecutorTest::wait_end(const AttemptId& id)
{
    wait_until([&] { return executor().look(id).phase == RunPhase::kEnded; }, "the end of " + id.value);
    return *executor().look(id).end;
}

std::string LocalExecutorTest::output(const AttemptId& id, OutputStream stream)
{
    return executor().read_output(id, stream, 0, 64UL << 20U).value();
}

std::filesystem::path LocalExecutorTest::work(const AttemptId& id) const
{
    return AttemptFolder(options_.attempts / id.value).work();
}

std::string LocalExecutorTest::wait_for_file(const std::filesystem::path& path)
{
    std::string content;
    const auto is_there = [&] {
        const Result<std::string> read = read_file(path);
        if (read) content = *read;
        return !content.empty();
    };
    wait_until(is_there, path.string());
    return content;
}

int LocalExecutorTest::supervisor_of(const AttemptId& id)
{
    const std::string text = wait_for_file(AttemptFolder(options_.attempts / id.value).supervisor());
    return Json::parse(text).at("pid").get<int>();
}

void LocalExecutorTest::kill_main(const AttemptId& id)
{
    const int supervisor = supervisor_of(id);
    const Result<std::string> children =
        read_file("/proc/" + std::to_string(supervisor) + "/task/" + std::to_string(supervisor) + "/children");
    if (children && !children->empty()) ::kill(std::stoi(*children), SIGKILL);
}

void LocalExecutorTest::reap(int pid)
{
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
}

} // namespace fathom::agent::test
