#include "core/decide/routing/operator_column.hpp"

#include "core/base/byte_key.hpp"
#include "core/base/portable_math.hpp"
#include "core/decide/measurement/operator_size.hpp"

namespace fathom {

void add_size(std::string& key, const OperatorDemand& demand)
{
    byte_key::add(key, demand.operator_id);
    byte_key::add(key, demand.parameters_key);
    byte_key::add(key, demand.operations);
    byte_key::add(key, demand.bytes);
}

OperatorColumn::OperatorColumn(std::size_t size)
    : times(size), least_s(size), least_unit_s(size), is_offered(size), is_unknown(size), is_estimated(size)
{
}

void OperatorColumn::take(std::size_t unit_type, const OperatorColumn& other, std::size_t from)
{
    times[unit_type] = other.times[from];
    least_s[unit_type] = other.least_s[from];
    least_unit_s[unit_type] = other.least_unit_s[from];
    is_offered[unit_type] = other.is_offered[from];
    is_unknown[unit_type] = other.is_unknown[from];
    is_estimated[unit_type] = other.is_estimated[from];
    has_loads = has_loads || times[unit_type].load != nullptr;
}

void OperatorColumn::set(std::size_t unit_type, const OperatorDemand& demand, const UnitTypeView& view,
                         const ExecutionTime& one)
{
    OperatorTime& time = times[unit_type];
    time.execution_s = one.execution_s;
    const double high_s = one.execution_s * portable::exp(kWidthOf80Percent * one.deviation);
    time.spread = one.execution_s > 0 ? high_s / one.execution_s : 1;
    time.curve = find_speedup(view.speedups.get(), demand.operator_id, demand.parameters_key,
                              size_work(demand.operations, demand.bytes));
    time.load = find_load(view.loads.get(), demand.operator_id);
    has_loads = has_loads || time.load != nullptr;
    time.basis = one.basis;
    is_unknown[unit_type] = one.basis == PredictionBasis::kUnknown ? 1 : 0;
    is_estimated[unit_type] = one.basis == PredictionBasis::kEstimated ? 1 : 0;
    least_s[unit_type] = time.execution_s * (time.curve == nullptr ? 1 : 1 - time.curve->most_saved());
    least_unit_s[unit_type] = time.execution_s / (time.curve == nullptr ? 1 : time.curve->best_efficiency());
}

} // namespace fathom
