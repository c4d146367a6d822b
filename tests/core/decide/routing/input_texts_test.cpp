#include "core/decide/routing/input_texts.hpp"

#include <gtest/gtest.h>

namespace fathom {
namespace {

std::shared_ptr<const void> some_source()
{
    return std::make_shared<const int>(1);
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

    EXPECT_EQ(texts.size_bytes(), large.size());
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
    EXPECT_EQ(texts.size_bytes(), 1U);
}

} // namespace
} // namespace fathom
