#include "core/decide/prediction/device_choice.hpp"

#include <algorithm>
#include <limits>

namespace fathom {
namespace {

const OperatorPrediction* find_known(const RunPrediction& prediction, std::size_t index, const OperatorDemand& demand)
{
    if (index >= prediction.operators.size()) return nullptr;
    const OperatorPrediction& one = prediction.operators[index];
    const bool is_same = one.operator_id == demand.operator_id && one.parameters_key == demand.parameters_key;
    return is_same && one.basis != PredictionBasis::kUnknown && one.total_s > 0 ? &one : nullptr;
}

DeviceChoice compare(std::span<const OperatorDemand> demands, const DevicePlace& cpu, const DevicePlace& gpu,
                     const DeviceTerms& terms)
{
    DeviceChoice choice;
    choice.center = cpu.center;
    choice.cpu_unit_type = cpu.unit_type;
    choice.gpu_unit_type = gpu.unit_type;
    choice.is_bus_known = gpu.bus_gb > 0;
    choice.bus_gb = choice.is_bus_known ? gpu.bus_gb : kUsualBusGb;
    choice.terms = terms_at(terms, cpu.transfers, gpu.transfers);
    DeviceTimes all;
    for (std::size_t i = 0; i < demands.size(); ++i) {
        const OperatorPrediction* on_cpu = find_known(*cpu.prediction, i, demands[i]);
        const OperatorPrediction* on_gpu = find_known(*gpu.prediction, i, demands[i]);
        if (on_cpu == nullptr || on_gpu == nullptr) continue;
        OperatorDevice one;
        one.demand = i;
        one.operator_id = demands[i].operator_id;
        one.parameters_key = demands[i].parameters_key;
        one.count = demands[i].count;
        one.cpu_s = on_cpu->total_s;
        one.gpu_s = on_gpu->total_s;
        one.bus_s = static_cast<double>(one.count) * bus_s(demands[i].bytes, choice.bus_gb);
        one.bytes = static_cast<double>(one.count) * demands[i].bytes;
        const DeviceTimes own{one.cpu_s, one.gpu_s, one.bytes};
        const SpeedupAnswer answer = compare_devices(own, choice.terms);
        one.speedup = answer.speedup;
        one.runs_on_gpu = answer.runs_on_gpu;
        all.cpu_s += own.cpu_s;
        all.gpu_s += own.gpu_s;
        all.bytes += own.bytes;
        choice.operators.push_back(std::move(one));
    }
    choice.cpu_s = all.cpu_s;
    choice.gpu_s = all.gpu_s;
    if (choice.operators.empty()) return choice;
    const SpeedupAnswer answer = compare_devices(all, choice.terms);
    choice.speedup = answer.speedup;
    choice.runs_on_gpu = answer.runs_on_gpu;
    return choice;
}

} // namespace

bool is_device(std::string_view resource_type)
{
    return resource_type != "cpu";
}

double bus_s(double bytes, double bus_gb)
{
    return bytes / (bus_gb * 1e9);
}

MeasuredOperator with_transfers(MeasuredOperator measured, double bus_gb)
{
    const double extra_s = bus_s(measured.bytes, bus_gb);
    measured.median_s += extra_s;
    measured.ci_low_s += extra_s;
    measured.ci_high_s += extra_s;
    return measured;
}

DeviceTerms terms_at(DeviceTerms terms, const UnitTransfers& cpu, const UnitTransfers& gpu)
{
    const auto first = [](double of_cpu, double of_gpu) { return of_cpu > 0 ? of_cpu : of_gpu; };
    terms.data_site_gb = first(cpu.data_site_gb, gpu.data_site_gb);
    const NodeRate rate = node_rate(first(cpu.nodes.between_hosts_gb, gpu.nodes.between_hosts_gb), terms.data_site_gb);
    terms.network_gb = rate.gb;
    terms.is_between_hosts = rate.is_between_hosts;
    terms.compression = std::nullopt;
    if (terms.is_compressed) terms.compression = cpu.nodes.compression ? cpu.nodes.compression : gpu.nodes.compression;
    return terms;
}

SpeedupAnswer compare_devices(const DeviceTimes& times, const DeviceTerms& terms)
{
    SpeedupQuestion question;
    question.machines = static_cast<double>(terms.unit_count);
    question.input_gb = times.bytes / (1 + question.output_fraction) / 1e9 / question.machines;
    question.network_gb = terms.network_gb > 0 ? terms.network_gb : std::numeric_limits<double>::infinity();
    question.threshold = terms.threshold;
    question.compression = terms.compression;
    return predict_speedup(question,
                           {.cpu_s = times.cpu_s / question.machines, .gpu_s = times.gpu_s / question.machines});
}

bool is_settled(const SpeedupAnswer& answer, const DeviceTimes& times, const DeviceTerms& terms)
{
    if (terms.network_gb > 0 || !(times.bytes > 0)) return true;
    // What N is nearer to, the slower the network is.
    const double slowest = terms.compression ? 1 / terms.compression->fraction : 1;
    return answer.runs_on_gpu ? terms.threshold <= slowest : slowest <= terms.threshold;
}

std::vector<DeviceChoice> compare_devices(std::span<const OperatorDemand> demands, std::span<const DevicePlace> places,
                                          const DeviceTerms& terms)
{
    std::vector<DeviceChoice> choices;
    std::vector<std::string_view> seen;
    for (const DevicePlace& place : places) {
        if (std::find(seen.begin(), seen.end(), place.center) != seen.end()) continue;
        seen.push_back(place.center);
        const auto first_of = [&](bool wants_device) {
            return std::find_if(places.begin(), places.end(), [&](const DevicePlace& other) {
                return other.center == place.center && is_device(other.resource_type) == wants_device;
            });
        };
        const auto cpu = first_of(false);
        const auto gpu = first_of(true);
        if (cpu == places.end() || gpu == places.end()) continue;
        DeviceChoice choice = compare(demands, *cpu, *gpu, terms);
        if (!choice.operators.empty()) choices.push_back(std::move(choice));
    }
    return choices;
}

Json to_json(const DeviceChoice& choice)
{
    const auto device = [](bool runs_on_gpu) { return runs_on_gpu ? "GPU" : "CPU"; };
    Json operators = Json::array();
    for (const OperatorDevice& one : choice.operators) {
        operators.push_back({{"id", one.operator_id},
                             {"parameters_key", one.parameters_key},
                             {"count", one.count},
                             {"cpu_s", one.cpu_s},
                             {"gpu_s", one.gpu_s},
                             {"bus_s", one.bus_s},
                             {"speedup", one.speedup},
                             {"run_on", device(one.runs_on_gpu)}});
    }
    const DeviceTerms& terms = choice.terms;
    const char* const network_source = terms.is_between_hosts ? "between_hosts" : "data_site";
    Json json = {{"center", choice.center},
                 {"cpu_unit_type", choice.cpu_unit_type},
                 {"gpu_unit_type", choice.gpu_unit_type},
                 {"bus_gb_s", choice.bus_gb},
                 {"bus_source", choice.is_bus_known ? "center" : "default"},
                 {"threshold", choice.terms.threshold},
                 {"unit_count", choice.terms.unit_count},
                 {"network_gb_s", choice.terms.network_gb > 0 ? Json(choice.terms.network_gb) : Json()},
                 {"network_source", terms.network_gb > 0 ? network_source : "unknown"},
                 {"cpu_s", choice.cpu_s},
                 {"gpu_s", choice.gpu_s},
                 {"speedup", choice.speedup},
                 {"run_on", device(choice.runs_on_gpu)},
                 {"decides", choice.decides},
                 {"operators", std::move(operators)}};
    if (terms.compression) {
        json["compressed_fraction"] = terms.compression->fraction;
        json["compression_gb_s"] = terms.compression->speed_gb;
    }
    return json;
}

} // namespace fathom
