#pragma once

#include "core/base/json_reader.hpp"
#include "server/store/transaction.hpp"

#include <string_view>

namespace fathom::server {

/// Records a privileged act in the transaction that does it, so that there is never one without the other.
/// @param actor    token id, center id or replica id.
/// @param action   stable name, `noun.verb`: "token.create", "center.drain".
/// @param subject  id of what it was done to.
/// @param detail   a JSON object; never a secret.
void audit(pqxx::transaction_base& transaction, std::string_view actor, std::string_view action,
           std::string_view subject, std::string_view request_id, const Json& detail = Json::object());

/// The same of an act that is repeated again and again, such as a page's looks: nothing, when the actor's same act on
/// the same subject was recorded within the last hour. Two at the same moment may both be recorded.
void audit_once_an_hour(pqxx::transaction_base& transaction, std::string_view actor, std::string_view action,
                        std::string_view subject, std::string_view request_id, const Json& detail = Json::object());

} // namespace fathom::server
