#include "agent/executor/local/environment.hpp"
#include "agent/jobs/probe_supplies.hpp"
#include "tests/agent/support/builders.hpp"

#include <gtest/gtest.h>

namespace fathom::agent {
namespace {

RunOrder probe()
{
    RunOrder run{test::shell_order("true"), {0}, 1, 0, {}};
    run.order.label = "probe";
    return run;
}

const std::map<std::string, std::string> kMisled{{"FATHOM_RESOURCE_TYPE", "cpu"}};

TEST(ProbeSupplies, TellWhatIsToBeMeasuredOnOtherThanProcessors)
{
    RunOrder run = probe();
    run.environment = kMisled;
    run.order.environment = kMisled;

    pass_resource_type(run, "cuda");

    EXPECT_EQ(job_environment(run, {"/work", "/programs", "nobody"}).at("FATHOM_RESOURCE_TYPE"), "cuda");
}

TEST(ProbeSupplies, MeasureProcessorsOnUnitsOfProcessorsWhateverAnybodyAsksFor)
{
    RunOrder run = probe();
    run.environment = {{"FATHOM_RESOURCE_TYPE", "cuda"}};
    run.order.environment = run.environment;

    pass_resource_type(run, "cpu");

    EXPECT_FALSE(job_environment(run, {"/work", "/programs", "nobody"}).contains("FATHOM_RESOURCE_TYPE"));
}

TEST(ProbeSupplies, LeaveTheVariablesOfOtherJobsAlone)
{
    RunOrder run = probe();
    run.order.label = "";
    run.order.environment = kMisled;

    pass_resource_type(run, "cuda");

    EXPECT_EQ(job_environment(run, {"/work", "/programs", "nobody"}).at("FATHOM_RESOURCE_TYPE"), "cpu");
}

} // namespace
} // namespace fathom::agent
