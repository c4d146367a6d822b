#pragma once

#include "core/base/clock.hpp"
#include "core/base/json_reader.hpp"
#include "server/store/time_range.hpp"
#include "server/store/transaction.hpp"

#include <optional>
#include <string>
#include <vector>

namespace fathom::server {

/// One privileged act.
struct AuditEntry {
    std::int64_t id{};
    Timestamp at{};
    std::string actor;                     ///< token id, center id or replica id
    std::optional<std::string> actor_name; ///< of the token, account or center, where it is still there
    std::string action;                    ///< `noun.verb`
    std::string subject;
    std::string request_id; ///< empty when no request is behind it
    Json detail;
};

/// What is looked for; empty fields: everything.
struct AuditFilter {
    std::string actor;
    std::string action;
    std::string subject;
    TimeRange within;
};

/// Newest first, from the act after that of the id `before` on (0: from the newest). A page reads few rows more than it
/// has, however many acts there are, of what one of the filters' actor, action and subject chooses within the times. In
/// the caller's transaction.
std::vector<AuditEntry> list_audit_log(pqxx::work& transaction, const AuditFilter& filter, std::int64_t before,
                                       std::int64_t limit);

} // namespace fathom::server
