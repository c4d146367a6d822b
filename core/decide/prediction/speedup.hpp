#pragma once

#include "core/base/json_reader.hpp"

#include <optional>
#include <string_view>
#include <vector>

/// Whether a batch computation over many machines runs faster on CPUs or on GPUs, predicted before it runs
/// (spec 2, S1–S7). Sizes in GB (10^9 bytes), speeds in GB/s, times in seconds.
namespace fathom {

/// The range of t, what a CPU needs for 100 MB, in which the model holds.
inline constexpr double kMinT_s = 0.001;
inline constexpr double kMaxT_s = 10;

enum class OperatorClass {
    kLinear,    ///< each record once: a filter
    kQuadratic, ///< records against each other: a join
    kMeasured   ///< as an exponent says that was measured
};

/// The range of exponents of kMeasured; 1 is as kLinear, 2 as kQuadratic.
inline constexpr double kMinExponent = 0.1;
inline constexpr double kMaxExponent = 10;

std::optional<OperatorClass> parse_operator_class(std::string_view text);
std::string_view to_string(OperatorClass operator_class);

/// How data is compressed on its way between machines.
struct Compression {
    double fraction{}; ///< c: compressed size / size, in (0, 1]
    double speed_gb{}; ///< v: GB/s of compressing and of expanding

    bool operator==(const Compression&) const = default;
};

/// What goes between a center's nodes, as its probes measured it.
struct NodeTransfers {
    double between_hosts_gb{};                ///< GB/s, by operators between its hosts; 0: not measured
    std::optional<Compression> compression{}; ///< empty: not measured

    bool operator==(const NodeTransfers&) const = default;
};

/// b of a center.
struct NodeRate {
    double gb{}; ///< GB/s; 0: not known
    bool is_between_hosts{};
};
/// What was measured between its hosts; where nothing was, its way to the data site.
NodeRate node_rate(double between_hosts_gb, double data_site_gb);

/// The question. Defaults are those of the specification.
struct SpeedupQuestion {
    OperatorClass operator_class{OperatorClass::kLinear};
    double exponent{};           ///< of kMeasured: on one machine's CPU (10 t)^exponent · D
    double seconds_per_100mb{};  ///< t: what one CPU needs for 100 MB
    double input_gb{};           ///< D: of one machine
    double output_fraction{0.1}; ///< o: output / input
    double machines{1};          ///< n
    double per_aggregation{10};  ///< k: machines whose results one machine aggregates
    double network_gb{};         ///< b: between nodes
    double bus_gb{12.8};         ///< p: to the GPU; PCIe 3.0 x16 class
    double gpu_parallelism{};    ///< m
    double core_ratio{1};        ///< r: one GPU core against one CPU core; T_cal is divided by m·r
    std::optional<Compression> compression;
    double threshold{1}; ///< S6: the GPU must be this many times faster
};

struct SpeedupAnswer {
    double cpu_s{};   ///< S3
    double gpu_s{};   ///< S5
    double speedup{}; ///< N = cpu_s / gpu_s
    bool runs_on_gpu{};
};

/// Reads the body of a what-if question strictly, every error at once.
/// @error kInvalid
Result<SpeedupQuestion> parse_speedup_question(const Json& json);

/// S1–S6. The number of aggregating machines is the sum over whole machines n + ⌈n/k⌉ + ⌈⌈n/k⌉/k⌉ + …, which ends in
/// one machine, and its closed form n·k/(k−1) from 1000 machines on.
/// The question must have passed parse_speedup_question or obey its ranges.
SpeedupAnswer predict_speedup(const SpeedupQuestion& question);

/// What the work on one machine takes, where it was measured on both kinds: t, m, r and p are in it.
struct MachineTimes {
    double cpu_s{}; ///< T_cal of S1
    double gpu_s{}; ///< T' of S4, with the way over the bus
};

/// S2, S3, S5 and S6 on such times. Of the question neither the class nor t, p, m and r are read; its network may be
/// infinitely fast.
SpeedupAnswer predict_speedup(const SpeedupQuestion& question, const MachineTimes& measured);

/// One point of a curve of the speed-up against t.
struct SpeedupPoint {
    double seconds_per_100mb{};
    double speedup{};
};

/// The speed-up at `count` values of t, evenly spaced on a log scale over 0.001…10 s (the range of S).
std::vector<SpeedupPoint> speedup_curve(SpeedupQuestion question, std::size_t count);

/// `{"cpu_s", "gpu_s", "speedup", "run_on": "CPU" | "GPU"}`
Json to_json(const SpeedupAnswer& answer);
/// `[{"seconds_per_100mb", "speedup"}]`
Json to_json(const std::vector<SpeedupPoint>& curve);

} // namespace fathom
