#pragma once

#include "agent/balance/actuator.hpp"
#include "agent/balance/unit_jobs.hpp"

#include <chrono>
#include <string>

namespace fathom::agent {

/// Writes which precision a job shall compute in, in one step: readers see the old word or the new one.
/// @error kUnavailable  the folder or file is not the job's, or cannot be written to.
Result<void> write_precision(const std::filesystem::path& work, uid_t uid, const std::string& word);

/// The precision that a job computes in. The job states its range (FATHOM_PRECISION_RANGE, as `int8..fp32`) and says in
/// its acknowledgement file, one word, what it computes in: at its start and after each change that it has followed. A
/// change that is not acknowledged is refused after a while, and asked for no more until the job says something.
class PrecisionHook final : public Actuator {
  public:
    /// @param range  that the job states.
    PrecisionHook(UnitJob job, PrecisionRange range, std::chrono::milliseconds timeout)
        : job_(std::move(job)), range_(range), timeout_(timeout)
    {
    }

    ActuatorKind kind() const override { return ActuatorKind::kPrecision; }
    Result<void> look(UnitPosition& position) override;
    Json undo() const override;
    void was_put_back() override { asked_.reset(); }
    Result<void> act(const BalanceActions& actions, std::optional<std::int64_t> wanted_sub_units) override;

  private:
    Result<Precision> read_acknowledged() const;

    UnitJob job_;
    PrecisionRange range_;
    std::chrono::milliseconds timeout_;
    std::optional<Precision> asked_; ///< and not acknowledged
    std::chrono::steady_clock::time_point asked_at_{};
    Precision present_{};
};

} // namespace fathom::agent
