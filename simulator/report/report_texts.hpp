#pragma once

#include "simulator/report/report.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace fathom::simulation {

/// A figure that a report shows, in the order in which it shows them.
enum class FigureId : std::size_t {
    kMeanCompletion,
    kMedianCompletion,
    kP95Completion,
    kP99Completion,
    kMeanWait,
    kP95Wait,
    kMaxWait,
    kMeanSlowdown,
    kP95Slowdown,
    kMaxSlowdown,
    kJainProjects,
    kJainJobs,
    kMeanFinishTimeFairness,
    kP95FinishTimeFairness,
    kUnfairShare,
    kUtilization,
    kCost,
    kEnergy,
    kIdleEnergy,
    kMissedDeadlines,
    kImpossible,
    kUnfinished,
    kFailedAttempts,
    kPredictionError,
    kDecisionsPerSecond,
    kCount,
};

struct FigureText {
    std::string_view name;
    std::string_view definition;
};

/// All that a report says in one language. Texts with {} are filled in by fmt.
struct ReportTexts {
    std::string_view language; ///< as in HTML
    std::string_view heading;  ///< {0}: title
    std::string_view policies;
    std::string_view seeds;
    std::string_view counted_jobs;
    std::string_view best;               ///< {0} policy, {1} mean completion
    std::string_view best_and_next;      ///< {0} policy, {1} mean completion, {2} next policy, {3} factor
    std::string_view best_and_reference; ///< {0} reference, {1} factor, {2} policy
    std::string_view partial_title;
    std::string_view partial; ///< {0} policies, {1} jobs that ended, {2} jobs in all
    std::string_view partial_mark;

    std::string_view comparison;
    std::string_view comparison_note;
    std::string_view reference_note; ///< {0} policy
    std::string_view bars_title;
    std::string_view bars_of_best; ///< {0} factor
    std::string_view bars_note;
    std::string_view bars_cut;
    std::string_view figure;
    std::string_view best_mark;

    std::string_view over_time;
    std::string_view queue_title;
    std::string_view queue_axis;
    std::string_view logarithmic; ///< {0} axis title
    std::string_view queue_note;
    std::string_view queue_cut; ///< {0} policies
    std::string_view time_axis;
    std::string_view maintenance;
    std::string_view counted_window;
    std::string_view units_title;  ///< {0} policy
    std::string_view units_row;    ///< {0} center, {1} units, {2} mean share
    std::string_view units_others; ///< {0} centers
    std::string_view units_note;

    std::string_view distributions;
    std::string_view completion_title;
    std::string_view completion_axis;
    std::string_view slowdown_title;
    std::string_view slowdown_axis;
    std::string_view share_axis;
    std::string_view distribution_note;

    std::string_view parts;
    std::string_view parts_of;        ///< {0} policy
    std::string_view projects;        ///< table title
    std::string_view project;         ///< column
    std::string_view no_project_name; ///< of jobs without one
    std::string_view centers;
    std::string_view center;
    std::string_view jobs;
    std::string_view more_rows; ///< {0} rows left out

    std::string_view simulated;
    std::string_view network;
    std::string_view unit_type;
    std::string_view units;
    std::string_view price;         ///< {0} currency
    std::string_view price_between; ///< {0} least, {1} most
    std::string_view power;
    std::string_view power_busy_idle; ///< {0} busy, {1} idle
    std::string_view failures;
    std::string_view every; ///< {0} mean time between failures, {1} mean repair
    std::string_view start_up;
    std::string_view closures;
    std::string_view closures_of; ///< {0} number, {1} duration in all
    std::string_view none;
    std::string_view workload;
    std::string_view workload_name;
    std::string_view workload_jobs; ///< {0} jobs, {1} counted
    std::string_view jobs_row;
    std::string_view arrivals_row;
    std::string_view arrivals; ///< {0} duration, {1} jobs an hour
    std::string_view work_row;
    std::string_view work; ///< {0} median, {1} mean
    std::string_view job_units_row;
    std::string_view job_units; ///< {0} mean, {1} most
    std::string_view projects_row;
    std::string_view projects_users; ///< {0} projects, {1} users
    std::string_view job_types_row;
    std::string_view load;
    std::string_view knowledge;
    std::string_view measurement_noise;
    std::string_view job_noise;
    std::string_view run_noise;
    std::string_view measure_every;
    std::string_view drift;
    std::string_view report_every;
    std::string_view learns;
    std::string_view learns_every; ///< {0} duration
    std::string_view estimates;
    std::string_view estimates_trusted;
    std::string_view estimates_not;
    std::string_view no;
    std::string_view made_with;
    std::string_view version;
    std::string_view command;
    std::string_view skipped;
    std::string_view nothing_skipped;
    std::string_view skip_rule;
    std::string_view skip_count;
    std::string_view skip_lines;

    std::string_view definitions;
    std::string_view definitions_note;
    std::array<FigureText, static_cast<std::size_t>(FigureId::kCount)> figures;

    /// Titles of policies by their names; of those that are not here, policy_names() says them in English.
    std::span<const PolicyName> policy_titles;

    const FigureText& of(FigureId id) const { return figures[static_cast<std::size_t>(id)]; }
};

const ReportTexts& report_texts(ReportLanguage language);

} // namespace fathom::simulation
