#pragma once

#include "core/base/clock.hpp"
#include "core/decide/score.hpp"
#include "server/store/page.hpp"

#include <optional>
#include <string>

namespace pqxx {
class transaction_base;
}

/// Rows of metric policies, and measurements as scores are made from them. All functions take the caller's
/// transaction, block, and let pqxx's exceptions through to Database::run.
namespace fathom::server {

struct PolicyRecord {
    MetricPolicy policy; ///< with id and version of the row
    bool active{};
    Timestamp created_at{};
    std::string created_by;
};

/// By id, newest version first; `after` is opaque.
Page<PolicyRecord> select_policies(pqxx::transaction_base& transaction, std::int64_t size, const std::string& after);
/// `version` 0: the newest.
std::optional<PolicyRecord> select_policy(pqxx::transaction_base& transaction, const std::string& id,
                                          std::int64_t version);
std::optional<PolicyRecord> select_active_policy(pqxx::transaction_base& transaction);
/// Two who add or activate do it one after the other.
void lock_policies(pqxx::transaction_base& transaction);
/// Adds the policy under its own id and version.
void insert_policy(pqxx::transaction_base& transaction, const MetricPolicy& policy, const std::string& created_by);
/// Makes this version the only active one.
void activate_policy(pqxx::transaction_base& transaction, const std::string& id, std::int64_t version);

/// The newest measurement of one operator at one size on so many units of a type.
struct MeasurementRecord {
    std::string center_id;
    std::string center;
    std::string unit_type_id;
    std::string unit_type;
    MeasuredOperator measured;
    std::int64_t operator_version{1};
    Json parameters;
    std::int64_t unit_count{1};
    double spread{};
    std::int64_t sample_count{};
    std::int64_t outlier_count{};
    std::string precision;
    std::string library;
};

struct MeasurementFilter {
    std::string center;    ///< id or name; empty for all
    std::string unit_type; ///< id, or "center/unit_type"
    std::string operator_id;
};
/// By center, unit type, operator, size, count; `after` is opaque.
/// @error kInvalid  `after` is not a key of this list.
Result<Page<MeasurementRecord>> select_measurements(pqxx::transaction_base& transaction,
                                                    const MeasurementFilter& filter, std::int64_t size,
                                                    const std::string& after);

Json to_json(const PolicyRecord& record);

} // namespace fathom::server
