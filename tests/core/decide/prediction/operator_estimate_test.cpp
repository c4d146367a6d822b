#include "core/decide/prediction/operator_estimate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>
#include <sstream>

namespace fathom {
namespace {

MeasuredOperator make_measured(const std::string& operator_id, const std::string& parameters_key, double median_s)
{
    MeasuredOperator measured;
    measured.operator_id = operator_id;
    measured.parameters_key = parameters_key;
    measured.median_s = median_s;
    return measured;
}

/// Measurements by unit type; entries can be hidden.
class Table {
  public:
    void add(const std::string& unit_type, const std::string& operator_id, const std::string& parameters_key,
             double median_s)
    {
        by_unit_type_[unit_type].push_back(make_measured(operator_id, parameters_key, median_s));
    }
    OperatorEstimates estimates() const
    {
        std::vector<MeasuredUnitType> unit_types;
        for (const auto& [unit_type, measured] : by_unit_type_)
            unit_types.push_back({unit_type, measured});
        return OperatorEstimates(unit_types);
    }
    /// The same without one entry.
    Table without(const std::string& unit_type, std::size_t entry) const
    {
        Table other = *this;
        std::vector<MeasuredOperator>& measured = other.by_unit_type_[unit_type];
        measured.erase(measured.begin() + static_cast<std::ptrdiff_t>(entry));
        return other;
    }
    const std::map<std::string, std::vector<MeasuredOperator>>& by_unit_type() const { return by_unit_type_; }

  private:
    std::map<std::string, std::vector<MeasuredOperator>> by_unit_type_;
};

struct Judgement {
    double median_error{}; ///< of |ln(actual / estimate)|
    double class_error{};  ///< the same for the geometric mean of the other unit types
    double within{};       ///< of actual times in their 80 % interval
    std::size_t count{};
};

/// Mean of ln(time) of the same on the other unit types.
double mean_elsewhere(const Table& table, const std::string& unit_type, const MeasuredOperator& hidden)
{
    double sum = 0;
    double count = 0;
    for (const auto& [other, entries] : table.by_unit_type()) {
        for (const MeasuredOperator& one : entries) {
            if (other == unit_type || one.operator_id != hidden.operator_id ||
                one.parameters_key != hidden.parameters_key)
                continue;
            sum += std::log(one.median_s);
            count += 1;
        }
    }
    return sum / count;
}

/// Hides each entry in turn and compares it with its estimate.
Judgement hide_each(const Table& table)
{
    std::vector<double> errors;
    std::vector<double> class_errors;
    std::size_t within = 0;
    for (const auto& [unit_type, measured] : table.by_unit_type()) {
        for (std::size_t i = 0; i < measured.size(); ++i) {
            const MeasuredOperator& hidden = measured[i];
            const auto estimate =
                table.without(unit_type, i).estimates().find(hidden.operator_id, hidden.parameters_key, unit_type);
            if (!estimate) continue;
            const double error = std::log(hidden.median_s / estimate->execution_s);
            if (std::abs(error) <= kWidthOf80Percent * estimate->deviation) ++within;
            errors.push_back(std::abs(error));
            class_errors.push_back(std::abs(std::log(hidden.median_s) - mean_elsewhere(table, unit_type, hidden)));
        }
    }
    std::sort(errors.begin(), errors.end());
    std::sort(class_errors.begin(), class_errors.end());
    return {errors[errors.size() / 2], class_errors[class_errors.size() / 2],
            static_cast<double>(within) / static_cast<double>(errors.size()), errors.size()};
}

/// ln(time) = row + column + factor · factor, in a table of 12 sizes × 14 unit types.
Table low_rank_table(double noise)
{
    std::mt19937_64 random(2);
    std::normal_distribution<double> normal;
    Table table;
    std::vector<std::pair<double, double>> unit_types;
    for (int column = 0; column < 14; ++column)
        unit_types.emplace_back(0.7 * normal(random), normal(random));
    for (int row = 0; row < 12; ++row) {
        const double bias = 3 * normal(random) - 5;
        const double factor = 0.6 * normal(random);
        for (int column = 0; column < 14; ++column) {
            const auto& [speed, kind] = unit_types[static_cast<std::size_t>(column)];
            table.add("u" + std::to_string(column), "op" + std::to_string(row), "n=64",
                      std::exp(bias + speed + factor * kind + noise * normal(random)));
        }
    }
    return table;
}

TEST(OperatorEstimates, RecoverHiddenEntriesOfALowRankTable)
{
    const Judgement exact = hide_each(low_rank_table(0));
    const Judgement noisy = hide_each(low_rank_table(0.05));

    EXPECT_EQ(exact.count, 12U * 14U);
    EXPECT_LT(exact.median_error, 0.02);
    EXPECT_GT(exact.class_error, 0.3);
    EXPECT_LT(noisy.median_error, 0.08);
    EXPECT_GE(noisy.within, 0.75);
}

/// BabelStream, CloverLeaf and TeaLeaf in several languages on twelve processors (tests/data/README.md).
Table real_table()
{
    Table table;
    std::ifstream file(FATHOM_TEST_DATA "/uob_devices_excerpt.csv");
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line)) {
        std::istringstream fields(line);
        std::string benchmark;
        std::string device;
        std::string language;
        std::string value;
        std::getline(fields, benchmark, ',');
        std::getline(fields, device, ',');
        std::getline(fields, language, ',');
        std::getline(fields, value, ',');
        const double figure = std::stod(value);
        table.add(device, benchmark, language, benchmark == "babelstream" ? 1e5 / figure : figure);
    }
    return table;
}

TEST(OperatorEstimates, PredictRealProcessorsBetterThanTheirAverage)
{
    const Judgement found = hide_each(real_table());
    std::printf("%zu entries hidden: median error %.2f, of the average of all %.2f; %.0f %% within\n", found.count,
                found.median_error, found.class_error, 100 * found.within);

    EXPECT_GT(found.count, 70U);
    EXPECT_LT(found.median_error, 0.6 * found.class_error);
    EXPECT_GE(found.within, 0.75);
    EXPECT_LE(found.within, 0.9);
}

TEST(OperatorEstimates, NothingInCommonMeansNoEstimate)
{
    Table table;
    table.add("a", "dgemm", "n=64", 0.1);
    table.add("b", "dgemm", "n=64", 0.2);
    table.add("a", "fft", "n=64", 0.3);
    table.add("b", "fft", "n=64", 0.5);
    table.add("c", "spmv", "n=64", 0.1); // nobody else was measured with that
    table.add("d", "fft", "n=64", 0.4);
    table.add("d", "only", "n=64", 0.4);
    const OperatorEstimates estimates = table.estimates();

    EXPECT_FALSE(estimates.find("dgemm", "n=64", "c"));
    EXPECT_FALSE(estimates.find("dgemm", "n=64", "unheard of"));
    EXPECT_FALSE(estimates.find("only", "n=64", "a")) << "one unit type is not enough";
    EXPECT_FALSE(estimates.find("dgemm", "n=65", "d"));
    const auto estimate = estimates.find("dgemm", "n=64", "d");
    ASSERT_TRUE(estimate);
    EXPECT_EQ(estimate->like_count, 2);
    EXPECT_GT(estimate->execution_s, 0.1);
    EXPECT_LT(estimate->execution_s, 0.2);
    EXPECT_GT(estimate->deviation, 0.2) << "four entries tell little";
}

TEST(OperatorEstimates, OrderDoesNotMatterAndWhatIsNoTimeIsLeftOut)
{
    const Table table = low_rank_table(0.05);
    std::vector<MeasuredUnitType> unit_types;
    for (const auto& [unit_type, measured] : table.by_unit_type())
        unit_types.push_back({unit_type, measured});
    const OperatorEstimates one(unit_types);
    std::reverse(unit_types.begin(), unit_types.end());
    std::vector<MeasuredOperator> bad = table.by_unit_type().at("u3");
    bad.push_back(make_measured("op99", "n=1", 0));
    bad.push_back(make_measured("op98", "n=1", std::nan("")));
    std::reverse(bad.begin(), bad.end());
    for (MeasuredUnitType& unit_type : unit_types) {
        if (unit_type.unit_type == "u3") unit_type.measured = bad;
    }
    const OperatorEstimates other(unit_types);

    EXPECT_EQ(one.find("op1", "n=64", "u3")->execution_s, other.find("op1", "n=64", "u3")->execution_s);
    EXPECT_EQ(one.find("op1", "n=64", "u3")->deviation, other.find("op1", "n=64", "u3")->deviation);
    EXPECT_FALSE(other.find("op99", "n=1", "u1"));
}

TEST(OperatorEstimates, FindsOneOfThousandsOfUnitTypes)
{
    std::mt19937_64 random(9);
    std::normal_distribution<double> normal;
    std::vector<std::vector<MeasuredOperator>> measured(4000);
    std::vector<std::string> names;
    for (std::size_t column = 0; column < measured.size(); ++column) {
        names.push_back("ut_" + std::to_string(column));
        const double speed = normal(random);
        for (int row = 0; row < 300; ++row) {
            if (random() % 2 == 0) continue;
            measured[column].push_back(
                make_measured("op" + std::to_string(row), "n=64", std::exp(speed - row * 0.01 + 0.1 * normal(random))));
        }
    }
    std::vector<MeasuredUnitType> unit_types;
    for (std::size_t column = 0; column < measured.size(); ++column)
        unit_types.push_back({names[column], measured[column]});

    const OperatorEstimates estimates(unit_types);

    EXPECT_TRUE(estimates.find("op7", "n=64", names.back()));
}

// Each size was measured twice: without one of its entries it cannot be estimated, so no strength can be judged and
// that of ridge 2 stays. "b" takes 2^7 times as long as the others; the ridge leaves 3/7 of each difference from the
// mean, 2^(−1, 2, −1) for "a", "b" and "c". x is then the mean of 0 + 1 and 7 − 2, thus 2^3, and 2^(3 − 1) on "c".
TEST(OperatorEstimates, HoldsBackWhereNothingCanBeLeftOut)
{
    Table table;
    table.add("a", "x", "n=64", 1);
    table.add("b", "x", "n=64", 128);
    table.add("b", "y", "n=64", 128);
    table.add("c", "y", "n=64", 1);
    table.add("c", "z", "n=64", 1);
    table.add("a", "z", "n=64", 1);
    const auto estimate = table.estimates().find("x", "n=64", "c");

    ASSERT_TRUE(estimate);
    EXPECT_NEAR(estimate->execution_s, 4, 0.01);
}

TEST(OperatorEstimates, CanBeRebuiltFromItsEntries)
{
    const OperatorEstimates estimates = low_rank_table(0.05).estimates();
    const std::vector<EstimatedOperator> entries{{"op1", "n=64", "u3", *estimates.find("op1", "n=64", "u3")}};
    const OperatorEstimates again = OperatorEstimates::from(entries);

    EXPECT_EQ(again.find("op1", "n=64", "u3")->execution_s, estimates.find("op1", "n=64", "u3")->execution_s);
    EXPECT_FALSE(again.find("op2", "n=64", "u3"));
}

} // namespace
} // namespace fathom
