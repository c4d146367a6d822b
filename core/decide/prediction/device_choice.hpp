#pragma once

#include "core/decide/prediction/predict.hpp"
#include "core/decide/prediction/speedup.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// CPU or GPU for the operators of one job, by what was measured (S4, S6, S7). Probes time an operator with its data
/// on the device; a job has its data in the host's memory, so the way over the bus comes on top.
namespace fathom {

/// S: a bus of PCIe 3.0 x16 class, in GB/s (10^9 bytes); what is taken where a center does not name its own.
inline constexpr double kUsualBusGb = 12.8;

/// True for resource types whose data must be brought to them: all but "cpu".
bool is_device(std::string_view resource_type);

/// How long the bytes of one execution, its inputs and outputs, take over the bus: the (1 + o)·D/p of S4.
double bus_s(double bytes, double bus_gb);

/// A measurement on a device as a job sees it: each execution with its transfers.
MeasuredOperator with_transfers(MeasuredOperator measured, double bus_gb);

/// What S6 is asked on beside times.
struct DeviceTerms {
    std::int64_t unit_count{1}; ///< n: the job's units, of either kind
    double network_gb{};        ///< b, GB/s; 0: not known, and what goes between units is left out
    double threshold{1};        ///< N must be larger; at least 1
    bool is_compressed{};       ///< the job compresses what goes between its units
    /// c and v, of a job that compresses; empty: it does not, or they are not measured, and what it gains is left out.
    std::optional<Compression> compression{};
    bool is_between_hosts{}; ///< b was measured between the center's hosts; else it is its way to the data site
    double data_site_gb{};   ///< GB/s of that way; 0: not known
};

/// How fast data leave units.
struct UnitTransfers {
    double data_site_gb{}; ///< their center's way to the data site; 0: not known
    NodeTransfers nodes{}; ///< between nodes of their center
};

/// What S6 is asked on at a center.
/// @param terms  without what the center says of networks and compression.
/// @param cpu    of its CPU unit type, whose figures count before those of the GPU's.
DeviceTerms terms_at(DeviceTerms terms, const UnitTransfers& cpu, const UnitTransfers& gpu);

/// Of a whole job or of one of its operators: all executions on one unit of each kind.
struct DeviceTimes {
    double cpu_s{};
    double gpu_s{}; ///< with bus_s
    double bytes{}; ///< inputs and outputs
};

/// S3, S5 and S6 of work that is spread over n units, with o and k as the specification has them: a unit has 1/n of the
/// work, and D is 1/n of the bytes ÷ (1 + o).
SpeedupAnswer compare_devices(const DeviceTimes& times, const DeviceTerms& terms);

/// Whether no network could make another decision of it. With b that is so; without, N is as for an infinitely fast
/// one, and that of any other is between it and 1, or 1 / c where what goes between units is compressed.
bool is_settled(const SpeedupAnswer& answer, const DeviceTimes& times, const DeviceTerms& terms);

/// One operator of a job on one unit of each kind; times are of all its executions.
struct OperatorDevice {
    std::size_t demand{}; ///< index among the job's operators
    std::string operator_id;
    std::string parameters_key;
    std::int64_t count{1};
    double bytes{}; ///< inputs and outputs
    double cpu_s{};
    double gpu_s{};   ///< with bus_s
    double bus_s{};   ///< over the bus
    double speedup{}; ///< N of S6, on n units
    bool runs_on_gpu{};
};

/// What S6 says at one center. The job goes to one unit type as a whole, so it is the last line that counts; the
/// operators tell why, and what a program gains that moves only some of them to the GPU.
struct DeviceChoice {
    std::string center;
    std::string cpu_unit_type; ///< name
    std::string gpu_unit_type; ///< name
    double bus_gb{};
    bool is_bus_known{}; ///< the center names its bus
    DeviceTerms terms;
    std::vector<OperatorDevice> operators; ///< those predicted on both, in the job's order
    double cpu_s{};                        ///< of these operators, on one unit
    double gpu_s{};                        ///< of these operators, on one unit
    double speedup{};                      ///< N of S6, on n units
    bool runs_on_gpu{};
    bool decides{}; ///< the router has set unit types of the center's other kind aside by it
};

/// One place of a decision.
struct DevicePlace {
    std::string center;
    std::string unit_type;
    std::string resource_type;
    double bus_gb{};                   ///< 0: not known
    const RunPrediction* prediction{}; ///< on one unit; of devices with transfers
    UnitTransfers transfers{};
};

/// For each center with places of both kinds the comparison of its first of each kind, in order of the centers' first
/// places. A center of whose operators none is predicted on both kinds is left out.
/// @param demands    the operators of the job; predictions name them in the same order.
/// @param places  best first.
/// @param terms   as those of terms_at().
std::vector<DeviceChoice> compare_devices(std::span<const OperatorDemand> demands, std::span<const DevicePlace> places,
                                          const DeviceTerms& terms);

Json to_json(const DeviceChoice& choice);

} // namespace fathom
