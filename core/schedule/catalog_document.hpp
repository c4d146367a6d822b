#pragma once

#include "core/schedule/schedule.hpp"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

/// The catalog that cycles refer to (cycle_document.hpp), as documents.
namespace fathom {

/// The unit types in order of id, with nothing reserved, and what is known of them.
struct CycleCatalog {
    std::vector<UnitTypeView> unit_types;
    RouteKnowledge knowledge;
    std::shared_ptr<const UnitTypeLoads> loads{}; ///< null: of a version whose cycles had them, each its own
};

/// Calls `keep` with each part, one after another: they are many megabytes in a large network.
void write_catalog(std::span<const UnitTypeView> unit_types, const RouteKnowledge& knowledge,
                   const UnitTypeLoads& loads, const std::function<void(std::string)>& keep);
/// The parts behind those of write_unit_types() (unit_types_document.hpp).
void write_knowledge(const RouteKnowledge& knowledge, const std::function<void(std::string)>& keep);
/// The last part.
void write_loads(const UnitTypeLoads& loads, const std::function<void(std::string)>& keep);
/// @param parts  all of them, in the order in which they were written.
/// @error kInvalid  as read_cycle()
Result<CycleCatalog> read_catalog(std::span<const std::string> parts);

} // namespace fathom
