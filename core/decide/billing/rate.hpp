#pragma once

#include "core/base/clock.hpp"
#include "core/model/price_book.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What usage costs. Exact: amounts are whole micros of a currency, what lies between is computed with integers of 128
/// bits, and no floating point touches money.
///
/// The rounding rule: what a meter has charged from the start of the usage (or the moment from which the price book
/// holds, if that is later) until a moment is computed exactly and rounded once, half up. A line is the difference of
/// two such amounts. So lines of a usage that is cut into parts sum to what the whole costs, wherever it is cut, and no
/// line is ever more than a micro off.
namespace fathom {

/// What is charged for. The names are part of the REST contract.
enum class Meter {
    kScoreHours,            ///< unit-hours x score / 1000: measured compute
    kUnitHours,             ///< units x hours that they were held
    kMovedGb,               ///< 10^9 bytes
    kStoredGbHours,         ///< 10^9 bytes x hours
    kIdleReservedUnitHours, ///< reserved, and used by nobody
    kMinimumCharge,         ///< what an attempt lacks to the least charge; its quantity is 1
};
std::string_view to_string(Meter meter);
std::optional<Meter> parse_meter(std::string_view text);

enum class UsageKind { kCompute, kStorage, kReservation };
std::string_view to_string(UsageKind kind);
std::optional<UsageKind> parse_usage_kind(std::string_view text);

/// Who pays. kNobody: what a center lost on the way is its own risk.
enum class Payer { kProject, kNetwork, kNobody };
std::string_view to_string(Payer payer);
std::optional<Payer> parse_payer(std::string_view text);

/// A use of the network, or a part of it from `from` to `until`.
struct Usage {
    UsageKind kind = UsageKind::kCompute;
    Payer payer = Payer::kProject;
    std::string_view project;
    std::string_view center; ///< name; empty: the network itself, as for kStorage
    std::string_view unit_type;
    std::int64_t unit_count = 0;   ///< held by an attempt
    std::int64_t score_milli = 0;  ///< thousandths of a point, of one unit
    std::int64_t bytes = 0;        ///< moved until its end, or with kStorage kept all the time
    std::int64_t idle_unit_us = 0; ///< of a reservation: units x microseconds that nobody used
    Timestamp origin{};            ///< when the whole began
    Timestamp from{};              ///< origin <= from <= until
    Timestamp until{};
    bool is_last = true; ///< the whole ends at `until`: what is charged once is charged here
};

/// One line of what usage costs.
struct Charge {
    Meter meter = Meter::kScoreHours;
    std::int64_t book_version = 0;
    std::string currency;
    Timestamp from{};
    Timestamp until{};
    std::int64_t quantity_nano = 0; ///< 10^-9 of the meter's unit
    std::int64_t unit_price_micros = 0;
    std::int64_t list_micros = 0;   ///< quantity x price: what the center gets
    std::int64_t billed_micros = 0; ///< after the project's discount: what is paid

    bool operator==(const Charge&) const = default;
};

/// A version of the price book, prepared for rating. Immutable.
class RateBook {
  public:
    RateBook(std::int64_t version, Timestamp valid_from, PriceBook book);

    /// What a unit-hour and a score-hour cost over the week.
    struct Rates {
        std::int64_t unit_hour_micros = 0;
        std::int64_t score_hour_micros = 0;
        std::int64_t idle_reserved_micros = 0;
        std::shared_ptr<const HourlyPrices> unit_hours;  ///< nullptr: the same at every hour
        std::shared_ptr<const HourlyPrices> score_hours; ///< the same
    };

    std::int64_t version() const { return version_; }
    Timestamp valid_from() const { return valid_from_; }
    const PriceBook& book() const { return book_; }
    /// nullptr: free.
    const Rates* find(std::string_view center, std::string_view unit_type) const;

  private:
    std::int64_t version_;
    Timestamp valid_from_;
    PriceBook book_;
    std::vector<Rates> rates_; ///< of the book's entries
};

/// The lines that a usage costs, in order of time for each meter; none where everything is free or nobody pays. At each
/// moment the newest book holds that had come into force; before the first nothing has a price. The same arguments give
/// the same lines for ever.
/// @param books  in ascending order of (valid_from, version).
/// @error kInvalid  the parts are out of order, or an amount is beyond 64 bits.
Result<std::vector<Charge>> rate(const Usage& usage, std::span<const RateBook> books);

/// The charges that undo these: the same lines with their amounts and quantities negated.
std::vector<Charge> reversed(std::span<const Charge> charges);

/// `amount` less a discount in millionths, rounded half up. 0 <= amount.
std::int64_t discounted(std::int64_t amount_micros, std::int64_t discount_ppm);

/// So many percent of an amount, rounded up; the largest number where that does not fit. Neither may be negative.
std::int64_t percent_of(std::int64_t amount_micros, std::int64_t percent);

} // namespace fathom
