#pragma once

#include "agent/config/agent_config.hpp"
#include "core/model/resources.hpp"

namespace fathom::agent {

/// Keeps in a file what the network's administrators want this center to offer (M9), so that a restart of the agent
/// does not undo it while the metascheduler cannot be reached. Runs on: the agent's working thread.
class ResourceKeeper {
  public:
    explicit ResourceKeeper(std::filesystem::path file) : file_(std::move(file)) {}

    /// Reads the file. One that cannot be read counts as none, and is logged: the order comes again.
    void load();

    /// The wanted unit types; empty: as the agent's own file says.
    const std::vector<UnitCut>& wanted() const { return order_.unit_types; }
    std::int64_t version() const { return order_.version; }

    /// Takes another order. @return whether it differs from the one before.
    /// @error kUnavailable  it could not be stored; the one before stays.
    Result<bool> take(ResourceOrder order);

    /// What is told of an offer that follows the order as far as `rule` allows.
    ResourceState applied(std::vector<ResourceDifference> differences, RemoteRule rule) const;
    /// What is told when the machines could not be looked at for it.
    ResourceState failed(const Error& error, RemoteRule rule) const;

  private:
    Result<ResourceOrder> read() const;

    std::filesystem::path file_;
    ResourceOrder order_;
};

} // namespace fathom::agent
