#include "core/model/operator_place.hpp"
#include "core/model/probe_result.hpp"
#include "core/model/probe_task.hpp"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(IsSamePlace, OperatorSizeAndLabelSayIt)
{
    OperatorUse use;
    use.id = "gemm";
    use.parameters = {{"n", 100}};
    use.label = "P1";
    OperatorResult result;
    result.id = use.id;
    result.parameters = use.parameters;
    result.label = use.label;
    result.version = 7; // the newest, which the use asks for
    EXPECT_TRUE(is_same_place(use, result));

    OperatorResult other = result;
    other.label = "P2";
    EXPECT_FALSE(is_same_place(other, result));
    other = result;
    other.parameters = {{"n", 200}};
    EXPECT_FALSE(is_same_place(other, result));
    other = result;
    other.id = "stream";
    EXPECT_FALSE(is_same_place(other, result));
}

} // namespace
} // namespace fathom
