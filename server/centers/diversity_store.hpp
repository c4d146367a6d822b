#pragma once

#include "core/base/json_reader.hpp"
#include "server/store/page.hpp"

#include <string>

namespace pqxx {
class transaction_base;
}

namespace fathom::server {

/// How many kinds of unit serve an operator in the network now (M18).
struct OperatorDiversity {
    std::string operator_id;
    std::int64_t unit_type_count{};
    std::int64_t center_count{};
    std::int64_t unit_count{}; ///< all units of these types
    Json resource_types;       ///< names, sorted
    /// [{id, center, name, resource_type, unit_count, is_open}], by center and name; [] where they are not asked for.
    Json unit_types;
};

/// Whether each operator's unit types are wanted by name: of a large network they are many times the rest.
enum class UnitTypesListed { kYes, kNo };

/// Every operator of the library that is not withdrawn, by id, those included that nothing runs. What counts are the
/// active unit types of centers that are not revoked, by what their centers reported, with the uploaded operators where
/// these are accepted. Blocks; pqxx's exceptions pass through.
/// @param operator_id  only this one; empty for all.
Page<OperatorDiversity> select_diversity_page(pqxx::transaction_base& transaction, const std::string& operator_id,
                                              UnitTypesListed listed, std::int64_t size, const std::string& after);

Json to_json(const OperatorDiversity& diversity);

} // namespace fathom::server
