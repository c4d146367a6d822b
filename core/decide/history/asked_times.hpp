#pragma once

#include "core/base/clock.hpp"
#include "core/decide/history/run_history.hpp"
#include "core/decide/history/typical_time.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// How much of the time that users ask for their jobs take.
namespace fathom {

/// A job that has run, of which its user had said how long it would take at most.
struct AskedRun {
    std::string_view owner{};
    std::string_view project{};
    std::string_view job_type{};
    double asked_s{};  ///< as if asked for the unit type that it ran on
    double actual_s{}; ///< there
    bool is_cut_off{}; ///< ended at its limit: it would have taken that long or longer
    Timestamp ended_at{};
};

/// What is expected of one more job: actual / asked.
struct AskedShare {
    double middle{}; ///< median
    double low{};    ///< 80 % interval
    double high{};
    std::string basis; ///< "37 % of the time asked for (118 runs of project P)", for people
    std::int64_t run_count{};
};

/// The quantiles 10, 50 and 90 % of ln(actual / asked), of all runs, of the job's project, of its type in the project,
/// of its user, and of the user's runs of the type, in this order: each counts W / (W + kPriorRuns), and what comes
/// before it the rest.
/// Before any run it is an assumption: a tenth, a half, and all of the time asked for. W is the sum of the weights of
/// the group's newest runs: half after 30 days, and half after so many newer ones as is usual for people's habits
/// (kHalfLifeOfUser_runs), or for the mixture of many people's (kHalfLifeOfMany_runs). So a user's own runs soon say
/// most of it, and others' only until then.
///
/// A run that was ended at its limit counts as at least all of what was asked for. Immutable.
class AskedTimes {
  public:
    AskedTimes() = default;
    /// Runs in any order; those whose times are not positive and finite are left out.
    AskedTimes(std::span<const AskedRun> runs, Timestamp now);

    /// Of an owner with an empty name it says what all runs of the type say. Empty: there was no run.
    std::optional<AskedShare> find(std::string_view job_type, RunOwner owner) const;

    static constexpr double kPriorRuns = 2;
    static constexpr double kHalfLifeOfUser_runs = 5;
    static constexpr double kHalfLifeOfMany_runs = 200;

  private:
    /// Of ln(actual / asked).
    struct Spread {
        double low{};
        double middle{};
        double high{};
    };
    struct Group {
        Spread spread;
        double weight{}; ///< W
        std::int64_t count{};
    };
    struct Groups {
        Group all;
        std::map<std::string, Group, std::less<>> by_job_type;
        const Group* of_type(std::string_view job_type) const;
    };
    using ByName = std::map<std::string, Groups, std::less<>>;
    struct Gathering;
    struct GatheringByType;
    struct Blending;
    static const Groups* of(const ByName& groups, std::string_view name);

    Groups network_;
    ByName by_project_;
    ByName by_owner_;
};

/// What `asked_s` lets expect of a job on a unit type, with what is known beside it: each counts by its variance, on
/// the scale of logarithms. Both are off by what this job is itself, so that their deviations do not become less
/// together. Never more than was asked for: then it is ended.
/// @param usual       what runs of its type, or of others, let expect there; nothing where none is known.
/// @param there  beside the usual unit type, for which people ask.
RunEstimate combine_asked(const std::optional<RunEstimate>& usual, const AskedShare& share, double asked_s,
                          const TimeRatio& there);

} // namespace fathom
