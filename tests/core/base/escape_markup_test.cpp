#include "core/base/escape_markup.hpp"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(EscapeMarkup, LeavesNoTagAndNoEndOfAnAttribute)
{
    EXPECT_EQ(escape_markup(R"(<a href='x' title="y">R&D</a>)"),
              "&lt;a href=&#39;x&#39; title=&quot;y&quot;&gt;R&amp;D&lt;/a&gt;");
    EXPECT_EQ(escape_markup("&amp;"), "&amp;amp;");
    EXPECT_EQ(escape_markup("核"), "核");
}

} // namespace
} // namespace fathom
