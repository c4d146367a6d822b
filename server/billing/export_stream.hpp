#pragma once

#include "core/net/http.hpp"
#include "server/api/compute_pool.hpp"
#include "server/api/token_line.hpp"
#include "server/billing/accounting_export.hpp"
#include "server/billing/focus_export.hpp"
#include "server/store/database.hpp"

#include <memory>

namespace fathom::server {

enum class ExportFormat { kFocus, kJsonLines, kLedger, kApelJobs, kApelSummaries, kSacct };

struct ExportRequest {
    ExportFormat format = ExportFormat::kFocus;
    ChargeFilter charges; ///< of kFocus and kJsonLines
    UsageFilter usage;    ///< of the others
    FocusOptions focus;
    ServiceLevelType service_level; ///< of kApelJobs, kApelSummaries
    TokenTurns turns{};             ///< of the token that asked: each look at the database waits for one
};

/// What an export holds is settled when it begins: `last_seq` of its charges is set to the ledger's end where it is 0.
asio::awaitable<Result<ExportRequest>> settle_export(Database& database, ExportRequest request);

/// Writes an export page by page, so that memory stays the same however long it is. What was settled alike is the same
/// to the byte. Pages are read on the database's threads and written out as text on those of `compute`. Throws when the
/// database fails on the way: an answer that is cut short is all that can tell the client.
asio::awaitable<void> stream_export(Database& database, ComputePool& compute, ExportRequest request,
                                    std::shared_ptr<net::BodyWriter> writer);

/// Whether an export of the format is made of the ledger, so that up to a given entry it never changes.
bool is_of_ledger(ExportFormat format);

/// The Content-Type of a format.
const char* content_type_of(ExportFormat format);

} // namespace fathom::server
