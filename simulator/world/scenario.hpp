#pragma once

#include "core/decide/capacity/unit_price.hpp"
#include "core/model/job.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// What is simulated: a compute network as it really is, and the jobs that come. Times are seconds from the beginning,
/// which is a Monday 00:00 UTC. Plain values.
namespace fathom::simulation {

/// How a job type's time follows its number of units.
enum class Scaling {
    kFixed,  ///< a job's work is its run time on the count that it asks for: what logs tell
    kLinear, ///< work is that of one unit, divided evenly
    kTable,  ///< by UnitTypeRates::speedups
};

/// Jobs that are alike in what they do, so that one measurement serves all.
struct JobType {
    std::string name;
    Scaling scaling = Scaling::kFixed;
};

/// Speed-up over one unit at some counts, ascending; between counts linear, beyond the last as there. Empty: linear.
struct CountSpeedup {
    std::int64_t unit_count{1};
    double speedup{1};
};

/// What a unit type really does of one job type.
struct UnitTypeRate {
    double rate{}; ///< work per second on one unit (a reference unit: 1); 0: it cannot run the type
    std::vector<CountSpeedup> speedups;
};

/// Units break one by one, which ends the job on them; the job comes back, to be run from its beginning.
struct UnitFailures {
    double mean_between_s = 0; ///< of one unit, exponential; 0: never
    double mean_repair_s = 0;  ///< exponential
};

struct Closure {
    double from_s{};
    double to_s{};
};

struct UnitType {
    std::string name;
    std::size_t center{}; ///< index
    std::int64_t unit_count{};
    std::vector<UnitTypeRate> rates; ///< by job type
    double peak_flops{};             ///< of one unit, as sheets tell; 0: not told
    double benchmark{};              ///< of one unit, in the one public benchmark that all have run; 0: none
    UnitPrice price;                 ///< per unit; with the power that a busy unit draws
    double idle_power_w{};           ///< of a unit without work
    UnitFailures failures;
    /// More than 1: units are parts of devices, so many of each, and jobs that have parts of the same slow each other.
    std::int64_t units_per_device{1};
    /// What a job keeps of its speed beside another one on a device: by job type, and within it by the other's; 0: both
    /// do not fit into its memory. Empty where units are whole devices.
    std::vector<double> kept_beside{};
};

struct Center {
    std::string name;
    double start_up_s = 0;                        ///< of each job, while it holds its units
    std::vector<Closure> closures;                ///< maintenance: nothing starts that is expected to run into it
    std::array<double, 168> network_rate_bytes{}; ///< per second, by hour of the week; 0: data is there at once
};

struct Network {
    std::string currency = "EUR";
    std::vector<JobType> job_types;
    std::vector<Center> centers;
    std::vector<UnitType> unit_types;
};

/// A job as it comes. Nearly all of them differ only in the first fields, and there may be millions.
struct Job {
    double arrival_s{};
    double work{};            ///< in reference seconds, see Scaling
    double estimate_s{};      ///< how long its user says that it will run on a reference unit; 0: not said
    std::uint32_t job_type{}; ///< index
    std::uint32_t project{};  ///< index into Workload::projects
    std::uint32_t user{};     ///< index into Workload::users
    std::uint32_t details{};  ///< index into Workload::details
    std::int32_t unit_count{1};
    std::int32_t max_units{}; ///< more than unit_count: from that up to so many, as suits best
};

/// What few jobs have; jobs that are alike share one.
struct JobDetails {
    std::int32_t priority = 0;           ///< -100..100
    std::optional<double> deadline_in_s; ///< from its arrival
    std::optional<double> budget;
    double data_in_bytes{};
    double data_out_bytes{};
    Preference prefer;
    std::optional<std::uint32_t> center;   ///< index: it runs nowhere else
    std::vector<std::uint32_t> unit_types; ///< indices: it runs on these only; empty: on any that can
};

struct Workload {
    std::string name;
    std::vector<Job> jobs; ///< by arrival
    std::vector<JobDetails> details{1};
    std::vector<std::string> projects{""};
    std::vector<std::string> users{""};
    /// Figures are taken over the jobs first_counted … end_counted − 1; the others are there so that these meet a
    /// network that is as busy before and after them.
    std::size_t first_counted{};
    std::size_t end_counted{};
};

/// What was left out of an input, by the rule that left it out.
struct InputSkips {
    std::string rule; ///< "no run time", "larger than any center"
    std::int64_t count{};
    std::vector<std::int64_t> lines; ///< of the first ten
};

/// What measurements, history and reports tell of the network, as far as it is not the truth.
struct KnowledgeSettings {
    double measurement_noise = 0.04; ///< standard deviation of ln(measured / true rate) of a measurement
    double job_noise = 0.10;         ///< of ln(expected / true work) of a job: what its profile does not tell
    double run_noise = 0.02;         ///< of ln of a run's time, which no one can know beforehand
    double measure_every_s = 7 * 86400.0;
    /// Rates wander: standard deviation of their logarithm after a day, each job type on each unit type by itself.
    double drift_per_day = 0;
    double report_every_s = 10; ///< what centers say of their queues is so old at most
    bool learns = true;         ///< predictions are corrected by what jobs took (core/decide/history/run_history)
    double learn_every_s = 3600;
    /// True: expected work is the user's estimate where there is one, not the truth with job_noise.
    bool trusts_estimates = false;
    /// Where jobs share devices: unit types are chosen by what a job would keep beside those who are there, too, not
    /// only the device of a unit type.
    bool counts_gpu_pairs = true;
};

struct Scenario {
    Network network;
    Workload workload;
    KnowledgeSettings knowledge;
    std::vector<InputSkips> skips;
};

/// The moment so many seconds after the beginning, Monday 1970-01-05 00:00 UTC, for what is known by hours of the week.
Timestamp moment_of(double at_s);

/// Seconds that data takes over a center's network from that moment on, hour by hour; 0 where data is there at once.
double true_transfer_s(const Center& center, double at_s, double size_bytes);

/// When the center's next closure begins, counted from `at_s`: 0 in one; infinite when none comes.
double open_for_s(const Center& center, double at_s);

/// True run time of a job on so many units of a type, without start-up, transfers and run_noise; infinite where it
/// cannot run. `drift`: factor of the rate at that moment.
double true_run_s(const Network& network, const Job& job, std::size_t unit_type, std::int64_t unit_count,
                  double drift = 1);

/// Whether the job may run there by what it asks for, has units enough, and the type can do its kind of work.
bool fits(const Scenario& scenario, const Job& job, std::size_t unit_type);

} // namespace fathom::simulation
