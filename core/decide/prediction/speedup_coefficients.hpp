#pragma once

#include "core/decide/prediction/predict.hpp"
#include "core/decide/prediction/speedup.hpp"

#include <optional>
#include <string>
#include <vector>

/// The coefficients of the model of spec 2 as a center's probes and hardware reports have them (S7).
namespace fathom {

/// What compressing and expanding the same data took on one unit.
struct MeasuredCompression {
    std::string parameters_key; ///< of both operators
    double bytes{};             ///< that are not compressed
    double compression_s{};     ///< medians of one execution
    double decompression_s{};
    double fraction{};        ///< size after compression / before, in (0, 1]
    std::string probe_run_id; ///< of the compression
};

/// A unit type of the center with what is known of it.
struct CenterUnitType {
    std::string name;
    std::string resource_type;
    std::vector<MeasuredOperator> measured;          ///< of each operator and size, on one unit
    Json facts;                                      ///< as its center reports them
    std::vector<MeasuredCompression> compressions{}; ///< of each size
};

/// How fast messages go between hosts of a center, by the operator mpi_bandwidth, or tcp_allreduce where no MPI is.
struct NodeNetwork {
    std::string operator_id;
    double bytes_per_s{};
    std::int64_t hosts{};     ///< that it was measured between, at least 2
    std::string probe_run_id; ///< of the measurement
};

struct MeasuredCenter {
    std::string name;
    std::vector<CenterUnitType> unit_types;
    std::optional<double> network_bytes;        ///< median of its timed transfers, bytes per second; empty: none
    std::optional<NodeNetwork> between_hosts{}; ///< empty: not measured
};

/// What a center says on b and on c and v, whoever asks: of its measured compressions those of CPU unit types, of each
/// the size nearest to 100 MB, of these the fastest.
NodeTransfers node_transfers_of(const MeasuredCenter& center);

/// One coefficient that the question left out.
struct Coefficient {
    std::string field; ///< of the question: "seconds_per_100mb", …
    std::optional<double> value;
    std::string source; ///< "measured", "reported", "default"; empty without a value
    std::string basis;  ///< where from, or why there is none; for people
};

/// The operator whose measured time stands for a class when the question names none: stream_triad touches each number
/// once, as a filter does; sort brings records face to face, as a join does.
std::string_view usual_operator(OperatorClass operator_class);

/// What a center says on the coefficients that `question` leaves out:
///
/// * `seconds_per_100mb` (t): median time of one execution on one CPU unit, scaled to 100 MB by the bytes that it
/// moves,
///   at the measured size nearest to 100 MB; of several unit types the fastest;
/// * `exponent`, of the class measured: the slope of ln(time) against ln(bytes) over all measured sizes of the operator
///   on the unit type of t, by least squares;
/// * `network_gb_s` (b): what was measured between its hosts; where nothing was, the median of its timed transfers;
/// * `bus_gb_s` (p), `gpu_parallelism` (m): facts of that name of its GPU unit type; p of PCIe 3.0 x16 without;
/// * `core_ratio` (r): from the operator's times per byte on CPU and GPU, t_cpu / t_gpu = m·r. Where m is known neither
/// from
///   the question nor from the facts, the whole of it stands as m, with r = 1: only the product matters;
/// * `compressed_fraction`, `compression_gb_s` (c, v): from its measured compressions, when the question says
///   `compressed`; of each CPU unit type the size nearest to 100 MB, of these the fastest. v is the mean speed of both
///   ways: 2 · bytes / (compression_s + decompression_s).
///
/// @param question  the body of a question; fields of wrong types count as given.
std::vector<Coefficient> find_coefficients(const Json& question, OperatorClass operator_class,
                                           const std::string& operator_id, const MeasuredCenter& center);

/// A question as far as it goes, completed and parsed.
/// @error kInvalid  as parse_speedup_question; a missing coefficient says why the center does not have it.
Result<SpeedupQuestion> complete_question(Json question, const std::vector<Coefficient>& coefficients);

/// `{field: {"value", "source", "basis"}}` of those with a value.
Json to_json(const std::vector<Coefficient>& coefficients);

} // namespace fathom
