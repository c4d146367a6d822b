#include "core/decide/billing/ledger.hpp"
#include "core/decide/billing/rate.hpp"
#include "core/model/money.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace fathom {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::minutes;

/// Monday.
const Timestamp kMonday = parse_rfc3339("2026-11-02T00:00:00Z").value();

RateBook book_of(const Json& document, Timestamp valid_from = {}, std::int64_t version = 1)
{
    return {version, valid_from, parse_price_book(document).value()};
}

/// 0.10 a score-hour everywhere, and what is in `more`.
Json document(Json more = Json::object())
{
    Json json = {{"currency", "EUR"}, {"entries", {{{"center", "*"}, {"unit_type", "*"}, {"per_score_hour", "0.10"}}}}};
    json.update(more);
    return json;
}

Usage usage(Timestamp from, Timestamp::duration length)
{
    Usage one;
    one.project = "materials";
    one.center = "alpha";
    one.unit_type = "core";
    one.unit_count = 2;
    one.score_milli = 1'500'000;
    one.origin = from;
    one.from = from;
    one.until = from + length;
    return one;
}

std::vector<Charge> rated(const Usage& one, const std::vector<RateBook>& books)
{
    return rate(one, books).value();
}

std::int64_t billed(const std::vector<Charge>& charges)
{
    std::int64_t sum = 0;
    for (const Charge& charge : charges)
        sum += charge.billed_micros;
    return sum;
}

TEST(Rate, PricesMeasuredCompute)
{
    const std::vector<RateBook> books{book_of(document())};

    const std::vector<Charge> charges = rated(usage(kMonday, hours(4)), books);

    // 2 units x 4 h x 1500 points / 1000 = 12 score-hours at 0.10
    ASSERT_EQ(charges.size(), 1U);
    EXPECT_EQ(charges[0], (Charge{Meter::kScoreHours, 1, "EUR", kMonday, kMonday + hours(4), 12'000'000'000, 100'000,
                                  1'200'000, 1'200'000}));
}

TEST(Rate, EqualWorkCostsAlikeOnUnitsOfAnySpeed)
{
    const std::vector<RateBook> books{book_of(document())};
    Usage slow = usage(kMonday, hours(6));
    slow.score_milli = 500'000;
    Usage fast = usage(kMonday, hours(1));
    fast.score_milli = 3'000'000;

    EXPECT_EQ(billed(rated(slow, books)), billed(rated(fast, books)));
}

TEST(Rate, HoursOfTheWeekHaveTheirPrice)
{
    const std::vector<RateBook> books{
        book_of({{"currency", "EUR"},
                 {"entries",
                  {{{"center", "alpha"},
                    {"unit_type", "core"},
                    {"per_unit_hour", "1"},
                    {"bands", {{{"days", {"mon"}}, {"from_hour", 2}, {"to_hour", 4}, {"per_unit_hour", "0.5"}}}}}}}})};

    const std::vector<Charge> charges = rated(usage(kMonday + minutes(90), hours(4)), books);

    ASSERT_EQ(charges.size(), 3U);
    EXPECT_EQ(charges[0].until, kMonday + hours(2));
    EXPECT_EQ(charges[0].billed_micros, 1'000'000);
    EXPECT_EQ(charges[1].until, kMonday + hours(4));
    EXPECT_EQ(charges[1].unit_price_micros, 500'000);
    EXPECT_EQ(charges[1].billed_micros, 2'000'000);
    EXPECT_EQ(charges[2].billed_micros, 3'000'000);
}

TEST(Rate, EachMomentHasTheBookThatHeldThen)
{
    Json dearer = document();
    dearer["entries"][0]["per_score_hour"] = "0.20";
    const std::vector<RateBook> books{book_of(document(), kMonday + hours(1), 1),
                                      book_of(dearer, kMonday + hours(3), 2)};

    const std::vector<Charge> charges = rated(usage(kMonday, hours(4)), books);

    ASSERT_EQ(charges.size(), 2U) << "before the first book nothing has a price";
    EXPECT_EQ(charges[0].book_version, 1);
    EXPECT_EQ(charges[0].billed_micros, 600'000);
    EXPECT_EQ(charges[1].book_version, 2);
    EXPECT_EQ(charges[1].billed_micros, 600'000);
}

TEST(Rate, ADiscountIsBorneByTheNetwork)
{
    const std::vector<RateBook> books{
        book_of(document({{"discounts", {{{"project", "materials"}, {"percent", "12.5"}}}}}))};
    const Usage one = usage(kMonday, hours(4));

    const std::vector<Charge> charges = rated(one, books);
    const std::vector<Posting> postings = postings_of(one, charges);

    ASSERT_EQ(charges.size(), 1U);
    EXPECT_EQ(charges[0].list_micros, 1'200'000);
    EXPECT_EQ(charges[0].billed_micros, 1'050'000);
    EXPECT_EQ(postings, (std::vector<Posting>{{"center:alpha", "EUR", -1'200'000},
                                              {"network", "EUR", 150'000},
                                              {"project:materials", "EUR", 1'050'000}}));
    EXPECT_TRUE(is_balanced(postings));
}

TEST(Rate, AnAttemptThatRanCostsTheMinimum)
{
    const std::vector<RateBook> books{book_of(document({{"minimum_charge", "0.01"}}))};

    EXPECT_EQ(billed(rated(usage(kMonday, microseconds(1)), books)), 10'000);
    EXPECT_EQ(billed(rated(usage(kMonday, hours(4)), books)), 1'200'000);
    EXPECT_TRUE(rated(usage(kMonday, microseconds(0)), books).empty()) << "it never started";
}

TEST(Rate, ProbesArePaidByTheNetworkAndLostWorkByNobody)
{
    const std::vector<RateBook> books{book_of(document({{"minimum_charge", "5"}}))};
    Usage probe = usage(kMonday, hours(4));
    probe.payer = Payer::kNetwork;
    Usage lost = usage(kMonday, hours(4));
    lost.payer = Payer::kNobody;

    EXPECT_EQ(postings_of(probe, rated(probe, books)),
              (std::vector<Posting>{{"center:alpha", "EUR", -1'200'000}, {"network", "EUR", 1'200'000}}));
    EXPECT_TRUE(rated(lost, books).empty());
}

TEST(Rate, BytesAndIdleReservationsHavePricesOfTheirOwn)
{
    Json priced = document({{"per_gb_moved", "0.02"}, {"per_gb_hour_stored", "0.001"}});
    priced["entries"][0]["per_idle_reserved_unit_hour"] = "0.03";
    const std::vector<RateBook> books{book_of(priced)};
    Usage moved = usage(kMonday, hours(1));
    moved.bytes = 2'500'000'000;
    Usage stored = usage(kMonday, hours(10));
    stored.kind = UsageKind::kStorage;
    stored.center = "";
    stored.bytes = 4'000'000'000;
    Usage idle = usage(kMonday, hours(8));
    idle.kind = UsageKind::kReservation;
    idle.idle_unit_us = std::int64_t{5} * 3'600'000'000;

    EXPECT_EQ(rated(moved, books)[1].billed_micros, 50'000);
    EXPECT_EQ(rated(stored, books)[0].billed_micros, 40'000);
    EXPECT_EQ(rated(idle, books)[0].billed_micros, 150'000);
    EXPECT_EQ(postings_of(stored, rated(stored, books)),
              (std::vector<Posting>{{"network", "EUR", -40'000}, {"project:materials", "EUR", 40'000}}));
}

TEST(Rate, AnAmountThatDoesNotFitIsAnError)
{
    Json absurd = document();
    absurd["entries"][0]["per_score_hour"] = "999999999999";
    const std::vector<RateBook> books{book_of(absurd)};
    Usage one = usage(kMonday, hours(1'000'000));
    one.unit_count = 1'000'000'000;
    one.score_milli = 1'000'000'000'000;

    EXPECT_EQ(rate(one, books).error().code, Errc::kInvalid);
}

TEST(Rate, TheTextOfAnEntryIsAContract)
{
    LedgerEntry entry;
    entry.seq = 7;
    entry.period = "2026-11";
    entry.source = "usage/17";
    entry.posted_at = kMonday + hours(5);
    entry.note = "a\tb\\c\nd";
    const Usage one = usage(kMonday, hours(4));
    entry.charges = rated(one, {book_of(document())});
    entry.postings = postings_of(one, entry.charges);

    EXPECT_EQ(ledger_text(entry),
              "entry\t7\t2026-11\tusage\tusage/17\t0\t2026-11-02T05:00:00.000000Z\ta\\tb\\\\c\\nd\t\n"
              "charge\tscore_hours\t1\tEUR\t2026-11-02T00:00:00.000000Z\t2026-11-02T04:00:00.000000Z\t12000000000\t"
              "100000\t1200000\t1200000\n"
              "posting\tcenter:alpha\tEUR\t-1200000\n"
              "posting\tproject:materials\tEUR\t1200000\n");
    EXPECT_EQ(chain_hash(kFirstHash, entry), "d818bc1bf9a6afed85a026a630b587f3686d5256d8229ae2ac1aaaa8a6b90687");
}

// ---- properties

rc::Gen<Json> gen_price()
{
    return rc::gen::map(rc::gen::inRange<std::int64_t>(0, 3'000'000),
                        [](std::int64_t micros) { return Json(format_amount(micros)); });
}

/// Any book: with bands, discounts, a minimum.
std::vector<RateBook> any_books()
{
    std::vector<RateBook> books;
    const auto count = *rc::gen::inRange(1, 4);
    Timestamp valid_from = kMonday - hours(20);
    for (int i = 0; i < count; ++i) {
        Json entry = {
            {"center", "alpha"}, {"unit_type", "*"}, {"per_score_hour", *gen_price()}, {"per_unit_hour", *gen_price()}};
        const auto bands = *rc::gen::inRange(0, 3);
        for (int band = 0; band < bands; ++band) {
            const auto from = *rc::gen::inRange(0, 23);
            entry["bands"].push_back(
                {{"from_hour", from}, {"to_hour", *rc::gen::inRange(from + 1, 25)}, {"per_score_hour", *gen_price()}});
        }
        Json json = {{"currency", "EUR"},
                     {"entries", {entry}},
                     {"minimum_charge", *gen_price()},
                     {"per_gb_moved", *gen_price()}};
        if (*rc::gen::arbitrary<bool>())
            json["discounts"] = {
                {{"project", "materials"}, {"percent", format_amount(*rc::gen::inRange(0, 1'000'001) * 100LL)}}};
        books.push_back(book_of(json, valid_from, i + 1));
        valid_from += microseconds(*rc::gen::inRange<std::int64_t>(1, 200'000'000'000));
    }
    return books;
}

Usage any_usage()
{
    Usage one = usage(kMonday + microseconds(*rc::gen::inRange<std::int64_t>(0, 86'400'000'000)),
                      microseconds(*rc::gen::inRange<std::int64_t>(0, 300'000'000'000)));
    one.unit_count = *rc::gen::inRange<std::int64_t>(1, 300);
    one.score_milli = *rc::gen::inRange<std::int64_t>(0, 5'000'000);
    one.bytes = *rc::gen::inRange<std::int64_t>(0, 50'000'000'000);
    return one;
}

RC_GTEST_PROP(RateProperties, SplittingAPeriodChangesNothing, ())
{
    const std::vector<RateBook> books = any_books();
    const Usage whole = any_usage();
    const std::int64_t length = (whole.until - whole.origin).count();
    std::vector<std::int64_t> cuts =
        *rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(0, length + 1));
    std::sort(cuts.begin(), cuts.end());

    std::int64_t parts = 0;
    Usage part = whole;
    for (const std::int64_t cut : cuts) {
        part.until = whole.origin + microseconds(cut);
        part.is_last = false;
        parts += billed(rated(part, books));
        part.from = part.until;
    }
    part.until = whole.until;
    part.is_last = true;
    parts += billed(rated(part, books));

    RC_ASSERT(parts == billed(rated(whole, books)));
}

RC_GTEST_PROP(RateProperties, LinesSumToTheTotalOfTheLedger, ())
{
    const std::vector<RateBook> books = any_books();
    const Usage one = any_usage();

    const std::vector<Charge> charges = rated(one, books);
    const std::vector<Posting> postings = postings_of(one, charges);

    std::int64_t owed = 0;
    for (const Posting& posting : postings)
        if (posting.account == "project:materials") owed += posting.amount_micros;
    RC_ASSERT(owed == billed(charges));
    RC_ASSERT(is_balanced(postings));
}

RC_GTEST_PROP(RateProperties, CorrectionsCancelExactly, ())
{
    const std::vector<RateBook> books = any_books();
    const Usage one = any_usage();
    std::vector<Charge> both = rated(one, books);

    const std::vector<Charge> undo = reversed(both);
    both.insert(both.end(), undo.begin(), undo.end());

    RC_ASSERT(postings_of(one, both).empty());
    RC_ASSERT(reversed(undo) == rated(one, books));
}

RC_GTEST_PROP(RateProperties, MoreUsageNeverCostsLess, ())
{
    const std::vector<RateBook> books = any_books();
    const Usage less = any_usage();
    Usage more = less;
    more.unit_count += *rc::gen::inRange(0, 3);
    more.score_milli += *rc::gen::inRange(0, 2000);
    more.bytes += *rc::gen::inRange(0, 1'000'000);

    RC_ASSERT(billed(rated(more, books)) >= billed(rated(less, books)));
}

RC_GTEST_PROP(RateProperties, ALongerRunNeverCostsLessUnderOneBook, ())
{
    std::vector<RateBook> books = any_books();
    books.erase(books.begin() + 1, books.end());
    const Usage less = any_usage();
    Usage more = less;
    more.until += microseconds(*rc::gen::inRange<std::int64_t>(0, 100'000'000'000));

    RC_ASSERT(billed(rated(more, books)) >= billed(rated(less, books)));
}

} // namespace
} // namespace fathom
