#include "core/decide/billing/rate.hpp"

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/model/price_book.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace fathom {
namespace {

// Not standard C++, and in every compiler that builds this.
__extension__ using Wide = __int128;

constexpr std::array<std::string_view, 6> kMeterNames{
    "score_hours", "unit_hours", "moved_gb", "stored_gb_hours", "idle_reserved_unit_hours", "minimum_charge"};
constexpr std::array<std::string_view, 3> kUsageKindNames{"compute", "storage", "reservation"};
constexpr std::array<std::string_view, 3> kPayerNames{"project", "network", "nobody"};

constexpr std::int64_t kNano = 1'000'000'000;
constexpr std::int64_t kMicrosecondsOfHour = 3'600'000'000;
constexpr std::int64_t kMilliPointsOfScoreHour = 1'000'000;
constexpr std::int64_t kBytesOfGb = 1'000'000'000;
constexpr std::int64_t kPpm = 1'000'000;
constexpr Timestamp kSomeMonday{std::chrono::sys_days{std::chrono::year{1969} / 12 / 29}};
constexpr Timestamp kNeverEnds = Timestamp::max();

template <class Enum, std::size_t N>
std::optional<Enum> parse_name(const std::array<std::string_view, N>& names, std::string_view text)
{
    const auto found = std::find(names.begin(), names.end(), text);
    if (found == names.end()) return std::nullopt;
    return static_cast<Enum>(found - names.begin());
}

/// Sums and products that remember whether one of them did not fit.
class Exact {
  public:
    Wide product(Wide a, Wide b)
    {
        Wide out = 0;
        fits_ = !__builtin_mul_overflow(a, b, &out) && fits_;
        return out;
    }
    Wide sum(Wide a, Wide b)
    {
        Wide out = 0;
        fits_ = !__builtin_add_overflow(a, b, &out) && fits_;
        return out;
    }
    /// Half up; `number` >= 0, `divisor` > 0.
    std::int64_t rounded(Wide number, Wide divisor)
    {
        const Wide quotient = number / divisor + (number % divisor >= divisor - divisor / 2 ? 1 : 0);
        if (quotient > std::numeric_limits<std::int64_t>::max()) fits_ = false;
        return fits_ ? static_cast<std::int64_t>(quotient) : 0;
    }
    bool fits() const { return fits_; }

  private:
    bool fits_ = true;
};

/// A price that holds until a moment.
struct PriceUntil {
    std::int64_t micros = 0;
    Timestamp until{};
};

PriceUntil price_at(std::int64_t flat, const HourlyPrices* hours, Timestamp at)
{
    if (hours == nullptr) return {flat, kNeverEnds};
    constexpr Timestamp::duration kWeek = std::chrono::weeks(1);
    Timestamp::duration since = (at - kSomeMonday) % kWeek;
    if (since < Timestamp::duration::zero()) since += kWeek;
    const auto hour = std::chrono::floor<std::chrono::hours>(since);
    const auto index = static_cast<std::size_t>(hour.count());
    const std::int64_t micros = hours->at(index);
    // Hours at one price are one line; a week at one price is the flat case.
    Timestamp until = at - since + hour + std::chrono::hours(1);
    for (std::size_t next = index + 1; next < index + hours->size(); ++next) {
        if (hours->at(next % hours->size()) != micros) break;
        until += std::chrono::hours(1);
    }
    return {micros, until};
}

/// What turns time into money for one meter.
struct TimeMeter {
    Meter meter = Meter::kUnitHours;
    std::int64_t flat_micros = 0;
    const HourlyPrices* hours = nullptr;
    Wide per_us = 0;        ///< quantity of a microsecond, in parts of the unit
    Wide parts_of_unit = 1; ///< so many parts are one unit of the meter
};

/// The stretch of a usage in which one book holds.
struct Stretch {
    const RateBook* book = nullptr;
    Timestamp origin{}; ///< from where amounts are rounded
    Timestamp from{};
    Timestamp until{};
    bool is_last = false; ///< the whole ends within it
};

class Rating {
  public:
    explicit Rating(const Usage& usage) : usage_(&usage) {}

    void add(const Stretch& stretch)
    {
        discount_ppm_ = 0;
        const PriceBook& book = stretch.book->book();
        if (usage_->payer == Payer::kProject) {
            const auto discount = book.discounts_ppm.find(usage_->project);
            if (discount != book.discounts_ppm.end()) discount_ppm_ = discount->second;
        }
        switch (usage_->kind) {
        case UsageKind::kCompute:
            return add_compute(stretch);
        case UsageKind::kStorage:
            add_over_time(stretch, {Meter::kStoredGbHours, book.per_gb_hour_stored_micros, nullptr, usage_->bytes,
                                    exact_.product(kBytesOfGb, kMicrosecondsOfHour)});
            return;
        case UsageKind::kReservation:
            if (const RateBook::Rates* rates = stretch.book->find(usage_->center, usage_->unit_type);
                rates != nullptr && stretch.is_last)
                add_once(stretch, Meter::kIdleReservedUnitHours, rates->idle_reserved_micros, usage_->idle_unit_us,
                         kMicrosecondsOfHour);
            return;
        }
    }

    Result<std::vector<Charge>> take()
    {
        if (!exact_.fits()) return Error{Errc::kInvalid, "an amount is too large for the ledger"};
        return std::move(charges_);
    }

  private:
    void add_compute(const Stretch& stretch)
    {
        const PriceBook& book = stretch.book->book();
        std::int64_t billed = 0; // from the stretch's origin on, also of what lies before `from`
        if (const RateBook::Rates* rates = stretch.book->find(usage_->center, usage_->unit_type)) {
            billed += add_over_time(stretch, {Meter::kScoreHours, rates->score_hour_micros, rates->score_hours.get(),
                                              exact_.product(usage_->unit_count, usage_->score_milli),
                                              exact_.product(kMilliPointsOfScoreHour, kMicrosecondsOfHour)});
            billed += add_over_time(stretch, {Meter::kUnitHours, rates->unit_hour_micros, rates->unit_hours.get(),
                                              usage_->unit_count, kMicrosecondsOfHour});
        }
        if (!stretch.is_last) return;
        add_once(stretch, Meter::kMovedGb, book.per_gb_moved_micros, usage_->bytes, kBytesOfGb);
        const bool owes_minimum = usage_->payer == Payer::kProject && usage_->until > usage_->origin;
        const std::int64_t missing = owes_minimum ? book.minimum_charge_micros - billed : 0;
        if (missing > 0) push(stretch, Meter::kMinimumCharge, kNano, missing, missing, missing);
    }

    /// @return what is billed from the stretch's origin to its end.
    std::int64_t add_over_time(const Stretch& stretch, const TimeMeter& meter)
    {
        Wide cost = 0; // in micros x parts
        Wide quantity = 0;
        std::int64_t list_before = 0;
        std::int64_t quantity_before = 0;
        for (Timestamp at = stretch.origin; at < stretch.until;) {
            const PriceUntil price = price_at(meter.flat_micros, meter.hours, at);
            Timestamp next = std::min(price.until, stretch.until);
            if (at < stretch.from) next = std::min(next, stretch.from);
            const Wide parts = exact_.product(meter.per_us, (next - at).count());
            quantity = exact_.sum(quantity, parts);
            cost = exact_.sum(cost, exact_.product(parts, price.micros));
            const std::int64_t list = exact_.rounded(cost, meter.parts_of_unit);
            const std::int64_t nano = exact_.rounded(exact_.product(quantity, kNano), meter.parts_of_unit);
            if (at >= stretch.from && price.micros > 0)
                charges_.push_back({meter.meter, stretch.book->version(), stretch.book->book().currency, at, next,
                                    nano - quantity_before, price.micros, list - list_before,
                                    discounted(list, discount_ppm_) - discounted(list_before, discount_ppm_)});
            list_before = list;
            quantity_before = nano;
            at = next;
        }
        return discounted(list_before, discount_ppm_);
    }

    void add_once(const Stretch& stretch, Meter meter, std::int64_t price_micros, std::int64_t parts,
                  std::int64_t parts_of_unit)
    {
        if (price_micros <= 0 || parts <= 0) return;
        const std::int64_t list = exact_.rounded(exact_.product(parts, price_micros), parts_of_unit);
        push(stretch, meter, exact_.rounded(exact_.product(parts, kNano), parts_of_unit), price_micros, list,
             discounted(list, discount_ppm_));
    }

    /// A line of what is charged once, for the whole.
    void push(const Stretch& stretch, Meter meter, std::int64_t quantity_nano, std::int64_t price_micros,
              std::int64_t list, std::int64_t billed)
    {
        charges_.push_back({meter, stretch.book->version(), stretch.book->book().currency, usage_->origin,
                            usage_->until, quantity_nano, price_micros, list, billed});
    }

    const Usage* usage_;
    std::int64_t discount_ppm_ = 0;
    Exact exact_;
    std::vector<Charge> charges_;
};

/// nullptr where each hour has the same price.
std::shared_ptr<const HourlyPrices> unless_flat(const HourlyPrices& prices)
{
    const bool is_flat =
        std::all_of(prices.begin(), prices.end(), [&](std::int64_t one) { return one == prices.front(); });
    return is_flat ? nullptr : std::make_shared<const HourlyPrices>(prices);
}

} // namespace

std::string_view to_string(Meter meter)
{
    return kMeterNames.at(static_cast<std::size_t>(meter));
}

std::optional<Meter> parse_meter(std::string_view text)
{
    return parse_name<Meter>(kMeterNames, text);
}

std::string_view to_string(UsageKind kind)
{
    return kUsageKindNames.at(static_cast<std::size_t>(kind));
}

std::optional<UsageKind> parse_usage_kind(std::string_view text)
{
    return parse_name<UsageKind>(kUsageKindNames, text);
}

std::string_view to_string(Payer payer)
{
    return kPayerNames.at(static_cast<std::size_t>(payer));
}

std::optional<Payer> parse_payer(std::string_view text)
{
    return parse_name<Payer>(kPayerNames, text);
}

RateBook::RateBook(std::int64_t version, Timestamp valid_from, PriceBook book)
    : version_(version), valid_from_(valid_from), book_(std::move(book))
{
    rates_.reserve(book_.entries.size());
    for (const PriceEntry& entry : book_.entries) {
        const HourlyPrices unit_hours = hourly_prices(entry);
        const HourlyPrices score_hours = hourly_score_prices(entry);
        rates_.push_back({unit_hours.front(), score_hours.front(), entry.per_idle_reserved_unit_hour_micros,
                          unless_flat(unit_hours), unless_flat(score_hours)});
    }
}

const RateBook::Rates* RateBook::find(std::string_view center, std::string_view unit_type) const
{
    const PriceEntry* entry = find_price(book_, center, unit_type);
    return entry == nullptr ? nullptr : &rates_[static_cast<std::size_t>(entry - book_.entries.data())];
}

Result<std::vector<Charge>> rate(const Usage& usage, std::span<const RateBook> books)
{
    if (usage.from < usage.origin || usage.until < usage.from)
        return Error{Errc::kInvalid, "a usage ends before it begins"};
    if (usage.unit_count < 0 || usage.score_milli < 0 || usage.bytes < 0 || usage.idle_unit_us < 0)
        return Error{Errc::kInvalid, "a usage is negative"};
    Rating rating(usage);
    if (usage.payer == Payer::kNobody) return rating.take();
    // The book that holds at the end charges what is charged once; one that comes into force just then does not yet.
    const Timestamp last = std::max(usage.origin, usage.until - Timestamp::duration(1));
    for (std::size_t i = 0; i < books.size(); ++i) {
        const Timestamp valid_from = books[i].valid_from();
        const Timestamp valid_until = i + 1 < books.size() ? books[i + 1].valid_from() : kNeverEnds;
        const bool holds_at_end = usage.is_last && valid_from <= last && last < valid_until;
        const Stretch stretch{&books[i], std::max(usage.origin, valid_from), std::max(usage.from, valid_from),
                              std::min(usage.until, valid_until), holds_at_end};
        if (stretch.from < stretch.until || holds_at_end) rating.add(stretch);
    }
    return rating.take();
}

std::vector<Charge> reversed(std::span<const Charge> charges)
{
    std::vector<Charge> undo(charges.begin(), charges.end());
    for (Charge& charge : undo) {
        charge.quantity_nano = -charge.quantity_nano;
        charge.list_micros = -charge.list_micros;
        charge.billed_micros = -charge.billed_micros;
    }
    return undo;
}

std::int64_t discounted(std::int64_t amount_micros, std::int64_t discount_ppm)
{
    if (discount_ppm == 0) return amount_micros;
    return static_cast<std::int64_t>((static_cast<Wide>(amount_micros) * (kPpm - discount_ppm) + kPpm / 2) / kPpm);
}

std::int64_t percent_of(std::int64_t amount_micros, std::int64_t percent)
{
    const Wide share = (static_cast<Wide>(amount_micros) * percent + 99) / 100;
    constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
    return share > kMax ? kMax : static_cast<std::int64_t>(share);
}

} // namespace fathom
