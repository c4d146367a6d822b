#pragma once

#include "core/decide/routing/route.hpp"
#include "core/schedule/byte_archive.hpp"

#include <functional>
#include <span>
#include <string>
#include <vector>

/// The unit types of a catalog (catalog_document.hpp), as documents: what they are and, in the last one, the state of
/// each.
namespace fathom {

/// Calls `keep` with each part, one after another. They are the first parts of write_catalog(): nearly all bytes of a
/// large network.
/// @param unit_types  in order of id
void write_unit_types(std::span<const UnitTypeView> unit_types, const std::function<void(std::string)>& keep);

/// Adds the unit types of a part. What is wrong is said by the reader.
void read_unit_types(ByteReader& reader, std::vector<UnitTypeView>& unit_types);

/// Reads the part with the states of all unit types into them. What is wrong is said by the reader.
void read_unit_states(ByteReader& reader, std::vector<UnitTypeView>& unit_types);

} // namespace fathom
