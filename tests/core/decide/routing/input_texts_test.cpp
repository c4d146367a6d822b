#include "core/decide/routing/input_texts.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace fathom {
namespace {

std::shared_ptr<const void> some_source()
{
    return std::make_shared<const int>(1);
}

std::size_t size_of(const std::string& member, const std::string& operators, const std::string& text)
{
    return member.size() + operators.size() + text.size() + InputTexts::kBytesBeside;
}

TEST(InputTexts, AreMadeOnceForEachSourceMemberAndOperators)
{
    InputTexts texts;
    const auto source = some_source();
    const auto other = some_source();
    int made = 0;
    const auto make = [&] { return "text " + std::to_string(++made); };

    EXPECT_EQ(texts.of(source, "measured", "fft\n", make), "text 1");
    EXPECT_EQ(texts.of(source, "measured", "dgemm\n", make), "text 2");
    EXPECT_EQ(texts.of(source, "speedups", "fft\n", make), "text 3");
    EXPECT_EQ(texts.of(other, "measured", "fft\n", make), "text 4");

    EXPECT_EQ(texts.of(source, "measured", "fft\n", make), "text 1");
    EXPECT_EQ(texts.of(other, "measured", "fft\n", make), "text 4");
}

TEST(InputTexts, KeepTheirSourcesSoThatNothingElseTakesTheirPlace)
{
    InputTexts texts;
    auto source = some_source();
    const std::weak_ptr<const void> watched = source;
    texts.of(source, "price", "", [] { return std::string("1"); });

    source.reset();

    EXPECT_FALSE(watched.expired());
}

TEST(InputTexts, BeginAnewWhenThereIsTooMuch)
{
    InputTexts texts;
    const auto source = some_source();
    const std::string large(InputTexts::kMaxBytes / 2 + 1, 'x');
    texts.of(source, "measured", "fft\n", [&] { return large; });

    EXPECT_EQ(texts.of(source, "measured", "dgemm\n", [&] { return large; }), large);

    EXPECT_EQ(texts.size_bytes(), size_of("measured", "dgemm\n", large));
    EXPECT_EQ(texts.of(source, "measured", "fft\n", [] { return std::string("anew"); }), "anew");
}

TEST(InputTexts, ACopyHasNone)
{
    InputTexts texts;
    texts.of(some_source(), "price", "", [] { return std::string("1"); });

    const InputTexts copy = texts;
    InputTexts other;
    other.of(some_source(), "price", "", [] { return std::string("2"); });
    other = texts;

    EXPECT_EQ(copy.size_bytes(), 0U);
    EXPECT_EQ(other.size_bytes(), 0U);
    EXPECT_EQ(texts.size_bytes(), size_of("price", "", "1"));
}

// Each job may read other operators, of which nothing is measured anywhere.
TEST(InputTexts, AreBoundedByWhatTheyAreFoundByAsWell)
{
    InputTexts texts;
    const auto source = some_source();
    const std::string operators(InputTexts::kMaxBytes / 4, 'x');
    for (int i = 0; i < 8; ++i) {
        texts.of(source, "measured", operators + std::to_string(i), [] { return std::string("[]"); });
        EXPECT_LE(texts.size_bytes(), InputTexts::kMaxBytes);
    }
    EXPECT_GE(texts.size_bytes(), operators.size());
}

TEST(InputTexts, OfWhatNobodyElseHasAnyMoreAreForgottenWithIt)
{
    InputTexts texts;
    auto gone = some_source();
    const auto used = some_source();
    const std::weak_ptr<const void> watched = gone;
    for (const char* const operators : {"fft", "sum"})
        texts.of(gone, "measured", operators, [] { return std::string("old"); });
    texts.of(used, "measured", "fft", [] { return std::string("new"); });

    texts.forget_unused();
    EXPECT_FALSE(watched.expired()) << "somebody has it";
    gone.reset();
    texts.forget_unused();

    EXPECT_TRUE(watched.expired());
    EXPECT_EQ(texts.size_bytes(), size_of("measured", "fft", "new"));
    EXPECT_EQ(texts.of(used, "measured", "fft", [] { return std::string("again"); }), "new");
}

TEST(InputTexts, AreAsTheyWereWhereOneCannotBeMade)
{
    InputTexts texts;
    const auto source = some_source();
    const std::string kept = texts.of(source, "price", "", [] { return std::string("1"); });
    const auto fails = []() -> std::string { throw std::runtime_error("no text"); };

    EXPECT_THROW(texts.of(source, "measured", "fft", fails), std::runtime_error);
    EXPECT_THROW(texts.of(some_source(), "measured", "fft", fails), std::runtime_error);

    EXPECT_EQ(texts.size_bytes(), size_of("price", "", kept));
    EXPECT_EQ(texts.of(source, "price", "", fails), kept);
    EXPECT_EQ(texts.of(source, "measured", "fft", [] { return std::string("2"); }), "2");
}

} // namespace
} // namespace fathom
