#pragma once

#include "core/base/result.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace fathom::agent {

/// What a unit asks for.
struct SubUnitRequest {
    std::string unit;
    std::int64_t held{};   ///< sub-units now
    std::int64_t change{}; ///< to gain; negative: to give up
    std::int64_t wanted{}; ///< R8: the count that would balance the unit, held × P_d / P_p
};

/// A request that was refused.
struct SubUnitRefusal {
    std::string request; ///< names it: another one has another name
    std::string reason;  ///< for people
};

/// Where sub-units come from and go to: the metascheduler's broker (R8), behind whatever cuts the unit into them
/// (vGPUs, MIG slices, MPS shares, CPU quotas). Whoever implements it records each change and can take it back. Called
/// by one thread; may block for milliseconds, not for the broker's answer: what is granted later shows in held().
class SubUnitSource {
  public:
    virtual ~SubUnitSource() = default;

    /// How many sub-units the unit holds now.
    /// @error kUnavailable  there are none: the unit is not cut, or the metascheduler does not answer.
    virtual Result<std::int64_t> held(const std::string& unit) = 0;

    /// Asks for a change. Asking again replaces what was asked before and is not granted yet; a change of 0 with as
    /// much wanted as is held withdraws it.
    /// @error kUnavailable  it cannot be asked now.
    /// @error kForbidden    what this source was asked for before was refused, which is said once; this request is not
    ///                      passed on.
    virtual Result<void> ask(const SubUnitRequest& request) = 0;

    /// The last refusal of a request for the unit, whoever asked; the same until there is another. Empty: none, or it
    /// is not known.
    virtual std::optional<SubUnitRefusal> last_refusal(const std::string& unit) = 0;
};

/// Where units are not cut into sub-units.
class NoSubUnits final : public SubUnitSource {
  public:
    Result<std::int64_t> held(const std::string&) override { return absent(); }
    Result<void> ask(const SubUnitRequest&) override { return absent(); }
    std::optional<SubUnitRefusal> last_refusal(const std::string&) override { return std::nullopt; }

  private:
    static Error absent() { return {Errc::kUnavailable, "absent: the unit is not cut into sub-units"}; }
};

} // namespace fathom::agent
