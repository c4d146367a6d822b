#pragma once

#include "core/model/unit_cut.hpp"

namespace fathom {

/// What the network's administrators want a center to offer (M9).
struct ResourceOrder {
    std::int64_t version{};          ///< 0: there is none
    std::vector<UnitCut> unit_types; ///< empty: as the agent's own file says

    friend bool operator==(const ResourceOrder&, const ResourceOrder&) = default;
};

/// One thing that a center was to offer and does not, or that its machines no longer have.
struct ResourceDifference {
    std::string code{};      ///< for programs: "fewer_devices", "not_permitted", … (docs/guides/center-resources.md)
    std::string unit_type{}; ///< empty: it is the center's
    std::string field{};     ///< of the unit type, such as "unit_count"; may be empty
    std::int64_t wanted{};   ///< devices, cores, bytes, as the code says; 0 for both: nothing was counted
    std::int64_t seen{};
    std::string detail{}; ///< for people

    friend bool operator==(const ResourceDifference&, const ResourceDifference&) = default;
};

/// How far a center is with the order.
struct ResourceState {
    std::int64_t version{};   ///< of the order that this is about; 0: none
    std::string state{};      ///< "file": as its own file says; "applied"; "forbidden" by the file; "failed": for now
    std::string detail{};     ///< why, for people; may be empty
    std::string permission{}; ///< what the file allows: "off", "within", "machine"
    std::vector<ResourceDifference> differences{};

    friend bool operator==(const ResourceState&, const ResourceState&) = default;
};

/// A state holds at most so many differences.
inline constexpr std::size_t kMaxResourceDifferences = 1000;

/// The document that people write: `unit_types` and nothing else. @error kInvalid  with every field error.
Result<std::vector<UnitCut>> parse_resource_document(const Json& json);
Json resource_document(const std::vector<UnitCut>& unit_types);

/// Unknown fields are ignored: the other side may be newer. Errors go to the reader's list.
ResourceOrder read_resource_order(ObjectReader& reader, std::vector<FieldError>& errors);
ResourceState read_resource_state(ObjectReader& reader, std::vector<FieldError>& errors);
Json to_json(const ResourceOrder& order);
Json to_json(const ResourceDifference& difference);
Json to_json(const ResourceState& state);

} // namespace fathom
