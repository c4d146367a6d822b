#pragma once

#include "core/base/clock.hpp"

#include <cstdint>
#include <string>

namespace fathom::cli {

// For people: three significant digits, a unit that keeps the number short. Programs read the JSON.

/// "850 ns", "12.3 µs", "4.56 ms", "12.3 s", "4 min 12 s", "3 h 05 min", "2 d 4 h"; "0 s" for zero.
std::string format_duration(double seconds);

/// "11.8–12.9 s", or with both units where they differ.
std::string format_interval(double low_s, double high_s);

/// "12.3 GFLOP/s", decimal steps.
std::string format_flops(double per_second);

/// "12.3 GB/s", decimal steps as memory vendors and `stream` use.
std::string format_bandwidth(double bytes_per_second);

/// "512 B", "1.50 GiB", binary steps.
std::string format_bytes(double bytes);

/// "1.2 %" of a fraction.
std::string format_percent(double fraction);

/// "2.1e-16", "0" for zero: relative errors.
std::string format_error(double relative);

/// "1 234 567": groups of three from five digits on.
std::string format_count(std::int64_t count);

/// Three significant digits without a unit: scores.
std::string format_number(double value);

/// "just now", "3 min ago", "2 d ago"; "in 3 min" for what is to come.
std::string format_age(Timestamp then, Timestamp now);

/// "2026-11-20 11:04:14 UTC".
std::string format_time(Timestamp time);

} // namespace fathom::cli
