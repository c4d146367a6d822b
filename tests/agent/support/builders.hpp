#pragma once

#include "agent/catalog/unit_plan.hpp"
#include "core/model/attempt.hpp"

#include <filesystem>

namespace fathom::agent::test {

/// An empty folder, removed with everything in it.
class TemporaryFolder {
  public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

/// A disk of this size, such as `4m`, mounted on a folder until the end; only root can. Throws when it cannot.
class SmallDisk {
  public:
    SmallDisk(std::filesystem::path folder, const std::string& size);
    ~SmallDisk();
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;

  private:
    std::filesystem::path folder_;
};

/// A job of one unit of type "core" with fresh ids.
AttemptOrder order(std::vector<std::string> command);
AttemptOrder shell_order(const std::string& line);

/// A machine with `cores` cores of one processor each, `per_node` of them on each NUMA node.
Host host(std::int64_t cores, std::int64_t per_node = 1000);

/// One type "core" of `count` units, one processor each, starting at processor 0.
UnitPlan core_plan(std::int64_t count);

} // namespace fathom::agent::test
