#pragma once

#include "server/billing/billing_parameters.hpp"
#include "server/billing/export_schedule_store.hpp"

namespace fathom::server {

/// What one run of a schedule writes.
struct ScheduledExport {
    ExportRequest request;
    std::string period;           ///< "2026-10"; empty: all
    BillingParameters parameters; ///< of the request, as GET /exports/{format} takes them
    std::string file_name;
};

/// @param due  the moment that the run is for.
/// @error kInvalid, kNotFound  what the schedule says does not fit together; fields as the schedule has them.
Result<ScheduledExport> scheduled_export(const ExportSchedule& schedule, Timestamp due);

} // namespace fathom::server
