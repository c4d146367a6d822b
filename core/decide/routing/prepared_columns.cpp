#include "core/decide/routing/operator_column.hpp"
#include "core/decide/routing/route_columns.hpp"

#include <algorithm>
#include <functional>

// What is made of a catalog before decisions ask for it.
namespace fathom {

std::vector<OperatorDemand> RouteColumns::measured_sizes() const
{
    // Most unit types were measured with the same: of a large network some are read.
    constexpr std::size_t kMaxRead = 256;
    std::map<std::string, OperatorDemand> by_key;
    std::map<std::string, std::size_t> counts; // of unit types
    for (std::size_t i = 0; i < size(); i += size() / kMaxRead + 1) {
        for (const MeasuredOperator& one : unit_types_[i].measured) {
            const OperatorDemand demand{.operator_id = one.operator_id,
                                        .parameters_key = one.parameters_key,
                                        .operations = one.operations,
                                        .bytes = one.bytes};
            std::string key;
            add_size(key, demand);
            by_key.try_emplace(key, demand);
            ++counts[key];
        }
    }
    std::vector<std::pair<std::size_t, std::string>> order;
    for (const auto& [key, count] : counts)
        order.emplace_back(count, key);
    std::sort(order.begin(), order.end(), std::greater<>());
    std::vector<OperatorDemand> demands;
    for (const auto& [count, key] : order)
        demands.push_back(by_key.at(key));
    return demands;
}

void RouteColumns::prepare()
{
    if (size() == 0) return;
    start_up_s(0);
    index();
    fact_groups();
    for (auto& [key, kept] : columns_) {
        if (kept.generation != generation_) renew(kept, false);
    }
    if (!columns_.empty()) return;
    std::vector<OperatorDemand> demands = measured_sizes();
    demands.resize(std::min({demands.size(), kMaxPrepared, most_columns()}));
    for (const OperatorDemand& demand : demands) {
        find(demand);
        measured_at(demand.operator_id, demand.parameters_key);
    }
}

} // namespace fathom
