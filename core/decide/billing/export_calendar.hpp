#pragma once

#include "core/decide/probing/cron.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// When exports of billing are written by the clock, and what of (docs/billing.md "Exports by the clock").
namespace fathom {

/// Which month a run exports, seen from the moment that it is for.
enum class ExportMonths {
    kPrevious, ///< the month before
    kCurrent,  ///< its own month, as far as it has gone
    kAll,      ///< everything until then
};
std::optional<ExportMonths> parse_export_months(std::string_view text);

/// "2026-10": the month (UTC) that the run for `due` exports; empty: all.
std::string export_period(ExportMonths months, Timestamp due);

/// The moment that the run after the one for `due` is for. Moments that have passed are left out where their runs would
/// write the month of `due` once more, so that a server that was away makes up for each month once.
Timestamp next_export(const CronSchedule& schedule, ExportMonths months, Timestamp due, Timestamp now);

/// When a run is tried again that has failed so many times, at least once: after five minutes, then ten, up to an hour.
Timestamp export_retry(std::int64_t failures, Timestamp now);

} // namespace fathom
