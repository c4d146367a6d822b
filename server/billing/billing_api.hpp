#pragma once

#include "server/api/api_router.hpp"
#include "server/api/compute_pool.hpp"
#include "server/billing/ledger_service.hpp"

namespace fathom::server {

/// Adds GET /jobs/{id}/cost, /usage, /score-evidence/{id}, /statements, /billing-periods, /ledger:verify,
/// /exports/{format} and POST /billing-periods/{period}/close. The references must outlive the router.
/// @param network  who issues the bills, for exports.
void add_billing_routes(ApiRouter& router, LedgerService& ledger, Database& database, ComputePool& compute,
                        const CatalogCache& catalog, Metrics& metrics, const std::string& network);

} // namespace fathom::server
