#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fathom::cli {

/// The flags of `fathom simulate`.
struct SimulateOptions {
    std::string centers;
    std::string workload;
    std::string format = "auto";
    std::vector<std::string> policies{"fathom", "least_loaded", "oracle"};
    std::uint64_t seed = 1;
    std::int64_t seed_count = 1;
    // What is simulated otherwise than the files say.
    std::vector<std::string> sets;     ///< CENTER[/UNIT].FIELD=VALUE
    std::vector<std::string> scales;   ///< CENTER[/UNIT]=FACTOR
    std::vector<std::string> closures; ///< CENTER=FROM..TO
    std::optional<double> measurement_noise{};
    std::optional<double> job_noise{};
    std::optional<double> drift_per_day{};
    std::optional<double> report_every_s{};
    std::optional<double> load{};
    std::string gpu_sharing = "off"; ///< on; both: each policy without and with it
    std::string gpu_pairs;           ///< the table of pairs for it
    std::string counted;             ///< FIRST:END
    // How some formats of workloads are read.
    std::string part;
    std::size_t kind_count = 4;
    double jobs_per_hour = 5.6;
    std::size_t job_count = 8000;
    bool has_multiple_gpus = false;
    // What comes out.
    std::string output;         ///< empty: as the session says
    std::string by;             ///< project, center
    bool is_comparison = false; ///< before and after the changes
    bool has_timing = false;
    std::string report_file;
    std::string report_language = "en";
    std::string jobs_file;
    std::string command; ///< as it was typed, as far as it says what is simulated
};

} // namespace fathom::cli
