#include "probes/operators/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

/// Linked with tests/probes/added_operators beside the library's own operators, by what any folder is found by.
namespace fathom::probes {
namespace {

std::vector<std::string> ids()
{
    std::vector<std::string> all;
    for (const RegisteredOperator& item : registered_operators())
        all.push_back(item.manifest.id);
    return all;
}

TEST(AddedOperator, IsKnownByItsFolderBesideTheOthers)
{
    EXPECT_THAT(ids(), testing::IsSupersetOf({"conjugate_gradient", "dgemm", "trigonometric", "vector_sum"}));
    EXPECT_TRUE(std::ranges::is_sorted(ids()));
    EXPECT_EQ(find_operator("vector_sum")->manifest.category, "hpc");
}

TEST(AddedOperator, RunsAndIsChecked)
{
    const RegisteredOperator* const found = find_operator("vector_sum");
    ASSERT_NE(found, nullptr);
    const Parameters parameters{{"n", 1000}};
    EXPECT_TRUE(found->available());
    EXPECT_DOUBLE_EQ(found->memory(parameters), 24'000);

    const std::unique_ptr<ProbeOperator> made = found->make(parameters, 1);
    ASSERT_TRUE(made->prepare(3));
    made->execute();

    EXPECT_EQ(made->error(), 0);
    EXPECT_EQ(made->checksum().size(), 16U);
}

} // namespace
} // namespace fathom::probes
