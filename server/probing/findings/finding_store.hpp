#pragma once

#include "core/base/clock.hpp"
#include "core/base/id.hpp"
#include "server/probing/findings/finding.hpp"
#include "server/store/page.hpp"

#include <optional>
#include <string>

namespace pqxx {
class transaction_base;
}

/// Rows of findings. All functions take the caller's transaction, block, and let pqxx's exceptions through to
/// Database::run.
namespace fathom::server {

/// Whose result it was.
struct FindingPlace {
    CenterId center_id;
    UnitTypeId unit_type_id;
    ProbeRunId run;
};

/// Adds a finding and logs it. One of the same kind about the same run is kept once: centers repeat their reports.
/// @return false when it was there already.
bool insert_finding(pqxx::transaction_base& transaction, const FindingPlace& place, const Finding& finding);

struct FindingRecord {
    std::int64_t id{};
    FindingPlace place; ///< the ids may be empty, but for the center's
    std::string center;
    std::string unit_type;
    std::string kind;
    std::string detail;
    Json evidence;
    Timestamp found_at{};
    std::optional<Timestamp> dismissed_at;
    std::string dismissed_by; ///< token id
};

struct FindingFilter {
    std::string center; ///< id or name
    std::string kind;
    std::optional<bool> is_open; ///< not dismissed
};
/// Newest first; `after` is an id. Empty filters take all.
/// @error kInvalid  `after` is not a key of this list.
Result<Page<FindingRecord>> select_findings(pqxx::transaction_base& transaction, const FindingFilter& filter,
                                            std::int64_t size, const std::string& after);

/// @error kNotFound  there is none of this id.
Result<FindingRecord> select_finding(pqxx::transaction_base& transaction, const std::string& id);

/// Marks it as dismissed; one that is stays as it was.
void dismiss_finding(pqxx::transaction_base& transaction, std::int64_t id, const std::string& actor);

Json to_json(const FindingRecord& finding);

} // namespace fathom::server
