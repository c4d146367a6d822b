#include "tests/agent/support/builders.hpp"

#include <cstdlib>
#include <stdexcept>
#include <sys/mount.h>

namespace fathom::agent::test {

TemporaryFolder::TemporaryFolder()
{
    std::string name = (std::filesystem::temp_directory_path() / "fathom-agent-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder");
    path_ = name;
}

TemporaryFolder::~TemporaryFolder()
{
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

SmallDisk::SmallDisk(std::filesystem::path folder, const std::string& size) : folder_(std::move(folder))
{
    if (::mount("fathom-test", folder_.c_str(), "tmpfs", 0, ("size=" + size).c_str()) != 0)
        throw std::runtime_error("cannot mount a small disk");
}

SmallDisk::~SmallDisk()
{
    ::umount2(folder_.c_str(), MNT_DETACH);
}

AttemptOrder order(std::vector<std::string> command)
{
    AttemptOrder order;
    order.attempt_id = AttemptId::make();
    order.job_id = JobId::make();
    order.name = "test";
    order.label = "job";
    order.unit_type = "core";
    order.command = std::move(command);
    order.wall_limit_s = 60;
    return order;
}

AttemptOrder shell_order(const std::string& line)
{
    return order({"sh", "-c", line});
}

Host host(std::int64_t cores, std::int64_t per_node)
{
    Host host;
    for (std::int64_t cpu = 0; cpu < cores; ++cpu)
        host.cores.push_back({cpu / per_node, {cpu}});
    host.host_cores = cores;
    host.memory_bytes = cores * 1000;
    return host;
}

UnitPlan core_plan(std::int64_t count)
{
    return cut_units(host(count), {}, {}).value();
}

} // namespace fathom::agent::test
