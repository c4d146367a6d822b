#pragma once

namespace fathom {

/// Whether an OperatorUse or OperatorResult and another one belong to the same place in a task: the same operator at
/// the same size, with the same label. The version is not looked at: a use may ask for the newest.
template <class One, class Other>
bool is_same_place(const One& one, const Other& other)
{
    return one.id == other.id && one.parameters == other.parameters && one.label == other.label;
}

} // namespace fathom
