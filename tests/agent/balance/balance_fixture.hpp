#pragma once

#include "agent/balance/balance_service.hpp"
#include "agent/balance/sub_unit_source.hpp"
#include "tests/agent/support/builders.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <utility>

namespace fathom::agent::test {

void write(const std::filesystem::path& path, const std::string& text);
std::string read(const std::filesystem::path& path);
bool is_there(const std::filesystem::path& path);

/// A folder that looks like a host: its counters, its knobs, the agent's folder and those of attempts.
class BalancedHost {
  public:
    BalancedHost();

    /// Two processors, 0 and 1, that may run at 1000 to 3000 MHz and are held to 1500.
    BalancedUnit unit() const;
    HostFiles files() const;
    std::filesystem::path limit(int cpu) const;
    /// The agent's state folder.
    const std::filesystem::path& state_dir() const { return folder_.path(); }
    std::filesystem::path journal() const { return folder_.path() / "balance-journal"; }
    std::filesystem::path traces() const { return folder_.path() / "agent"; }
    std::filesystem::path attempts() const { return folder_.path() / "attempts"; }

    /// What the unit's control group has used and read since its beginning.
    void count(double busy_s, double bytes) const;
    /// Lets the unit compute nine tenths of the time and move nothing until a condition holds; false: it does not hold
    /// for a minute.
    bool compute_until(const std::function<bool()>& condition) const;
    /// Whether processor 0 is held to something else than at the beginning.
    bool is_changed() const;

    /// A job on processor 0 that runs.
    UnitJob run_job(const std::map<std::string, std::string>& environment = {}) const;
    void end_job(const UnitJob& job) const;

    BalanceTrace trace() const;
    BalanceConfig config() const;
    BalancePlaces places() const { return {attempts(), journal(), files()}; }

  private:
    TemporaryFolder folder_;
};

/// Grants what is asked for at once.
class FakeSubUnits final : public SubUnitSource {
  public:
    explicit FakeSubUnits(std::int64_t held) : held_(held) {}
    Result<std::int64_t> held(const std::string&) override { return held_; }
    Result<void> ask(const SubUnitRequest& request) override
    {
        requests.push_back(request);
        held_ += request.change;
        return {};
    }
    std::optional<SubUnitRefusal> last_refusal(const std::string&) override { return std::nullopt; }

    std::vector<SubUnitRequest> requests;

  private:
    std::int64_t held_;
};

/// A broker that grants nothing until it is told how many there are now. A refusal is said by the next request.
class SlowSubUnits final : public SubUnitSource {
  public:
    Result<std::int64_t> held(const std::string&) override { return count; }
    Result<void> ask(const SubUnitRequest& request) override
    {
        if (!news.empty()) return Error{Errc::kForbidden, "refused: " + std::exchange(news, "")};
        requests.push_back(request);
        return {};
    }
    std::optional<SubUnitRefusal> last_refusal(const std::string&) override { return refusal; }

    void refuse(const std::string& reason)
    {
        refusal = SubUnitRefusal{std::to_string(requests.size()), reason};
        news = reason;
    }

    std::int64_t count = 10;
    std::vector<SubUnitRequest> requests;
    std::optional<SubUnitRefusal> refusal;
    std::string news; ///< a refusal that was not said yet
};

} // namespace fathom::agent::test
