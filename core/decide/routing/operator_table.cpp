#include "core/decide/routing/operator_table.hpp"

#include <algorithm>
#include <functional>

namespace fathom {
namespace {

/// The list of the operator, made where there is none. Most unit types have the same operators, so that the next one
/// in order is mostly the one that is looked for.
/// @param next  set to what follows it.
template <class Lists>
auto& list_of(Lists& lists, typename Lists::iterator& next, const std::string& operator_id)
{
    if (next == lists.end() || next->first != operator_id) next = lists.try_emplace(operator_id).first;
    auto& list = next->second;
    ++next;
    return list;
}

template <class Lists>
auto find_in(const Lists& lists, std::string_view operator_id)
{
    const auto found = lists.find(operator_id);
    using List = std::span<const typename Lists::mapped_type::value_type>;
    return found == lists.end() ? List() : List(found->second);
}

} // namespace

bool is_sorted_by_operator(std::span<const MeasuredOperator> measured)
{
    return std::is_sorted(measured.begin(), measured.end(), [](const MeasuredOperator& a, const MeasuredOperator& b) {
        return a.operator_id < b.operator_id;
    });
}

OperatorTable::OperatorTable(const UnitTypeList& unit_types)
{
    has_measured_.reserve(unit_types.size());
    has_offered_.reserve(unit_types.size());
    std::uint32_t index = 0;
    for (const UnitTypeView& view : unit_types) {
        has_measured_.push_back(is_sorted_by_operator(view.measured) ? 1 : 0);
        if (has_measured_.back() != 0) add_measured(index, view.measured);
        has_offered_.push_back(std::is_sorted(view.operators.begin(), view.operators.end()) ? 1 : 0);
        if (has_offered_.back() != 0) add_offered(index, view.operators);
        ++index;
    }
}

void OperatorTable::add_measured(std::uint32_t unit_type, std::span<const MeasuredOperator> list)
{
    auto next = measured_.begin();
    for (std::size_t first = 0; first < list.size();) {
        std::size_t end = first + 1;
        while (end < list.size() && list[end].operator_id == list[first].operator_id)
            ++end;
        list_of(measured_, next, list[first].operator_id)
            .push_back({unit_type, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(end - first)});
        first = end;
    }
}

void OperatorTable::add_offered(std::uint32_t unit_type, std::span<const std::string> operators)
{
    auto next = offering_.begin();
    for (const std::string& operator_id : operators)
        list_of(offering_, next, operator_id).push_back(unit_type);
}

std::span<const OperatorTable::Measured> OperatorTable::measured(std::string_view operator_id) const
{
    return find_in(measured_, operator_id);
}

std::span<const std::uint32_t> OperatorTable::offering(std::string_view operator_id) const
{
    return find_in(offering_, operator_id);
}

} // namespace fathom
