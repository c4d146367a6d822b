#pragma once

#include "agent/app/agent_folder.hpp"
#include "agent/balance/sub_unit_source.hpp"
#include "agent/config/sub_unit_tables.hpp"
#include "agent/jobs/sub_units.hpp"

#include <map>
#include <memory>
#include <vector>

namespace fathom::agent {

/// The sub-units of balanced units, as the agent's process has them from the metascheduler's broker: read from its
/// file, and asked for by its request file (SubUnitRequestFile), which the agent passes on within a second. A balanced
/// unit has the name of the unit type that a `[[sub_units]]` table names. For a process with other rights than the
/// agent's, which does not follow what may stand in the agent's folder.
class SharedSubUnits final : public SubUnitSource {
  public:
    /// @param folder  the agent's; `owner` and `group` are its process's.
    SharedSubUnits(OpenFile folder, uid_t owner, gid_t group, std::vector<SubUnitRule> rules)
        : folder_(std::move(folder)), owner_(owner), group_(group), rules_(std::move(rules))
    {
    }

    Result<std::int64_t> held(const std::string& unit) override;
    /// Asks for what the unit wants, or, where that is what it has, for the change; where neither is another count, for
    /// nothing more than there is. A refusal that came since is said instead, once.
    Result<void> ask(const SubUnitRequest& request) override;
    std::optional<SubUnitRefusal> last_refusal(const std::string& unit) override;

  private:
    const SubUnitRule* rule_of(const std::string& unit) const;
    Result<SubUnits> read() const;
    Result<void> leave(const SubUnitRule& rule, const SubUnitRequest& request) const;

    OpenFile folder_;
    uid_t owner_;
    gid_t group_;
    std::vector<SubUnitRule> rules_;
    /// By unit, of requests that no refusal was said of: the request of the last refusal when they were left, or "".
    std::map<std::string, std::string> asked_;
};

/// SharedSubUnits where the settings share some, else NoSubUnits.
std::unique_ptr<SubUnitSource> make_sub_unit_source(const AgentFolder& folder, const std::vector<SubUnitRule>& rules);

} // namespace fathom::agent
