// What a job has of its center's software, by programs in the place of Environment Modules and apptainer.

#include "agent/executor/batch/script_parts.hpp"
#include "agent/executor/run_order.hpp"
#include "agent/executor/software.hpp"
#include "core/base/file.hpp"
#include "tests/agent/support/builders.hpp"

#include <gmock/gmock.h>

#include <cstdlib>

namespace fathom::agent {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class SoftwareTest : public testing::Test {
  protected:
    SoftwareTest()
    {
        write_file(place_.modules_file,
                   "module() { [ \"$1\" = load ] || return 2\nshift\ncase \"$*\" in *none*) return 1 ;; esac\n"
                   "export LOADED=\"$*\"; }\n")
            .value();
        write_file(place_.container_program,
                   "#!/bin/sh\necho \"container: $*\"\nwhile [ \"$1\" != \"$AFTER\" ]; do shift; done\nshift\n"
                   "IN_CONTAINER=yes exec \"$@\"\n",
                   0755)
            .value();
    }

    /// What a command prints that has these words before it; in a folder "work here".
    std::string output_of(const JobSoftware& software, const std::string& after = "")
    {
        RunOrder run;
        run.order = test::shell_order("echo \"$LOADED|$IN_CONTAINER|$0|$1\"; pwd");
        run.order.command.insert(run.order.command.end(), {"name", "it's; \"one\""});
        run.before = software_words(software, place_, false).value();
        const std::filesystem::path work = folder_.path() / "work here";
        std::filesystem::create_directories(work);
        const std::string line = "cd " + shell_quoted(work.string()) + " && export AFTER=" + shell_quoted(after) +
                                 "; { " + program_line(run) + "; echo \"=$?\"; } >../out 2>&1";
        EXPECT_EQ(std::system(line.c_str()), 0); // NOLINT(concurrency-mt-unsafe,cert-env33-c): a test's own line
        return read_file(folder_.path() / "out").value();
    }

    test::TemporaryFolder folder_;
    SoftwarePlace place_{.modules_file = folder_.path() / "modules.sh",
                         .container_program = folder_.path() / "apptainer"};
};

TEST_F(SoftwareTest, ModulesAreLoadedBeforeTheCommandWhichKeepsItsWords)
{
    EXPECT_THAT(output_of({.modules = {"gcc/12.2", "fftw"}, .image = {}}),
                HasSubstr("gcc/12.2 fftw||name|it's; \"one\"\n"));
}

TEST_F(SoftwareTest, ACommandWhoseModulesAreNotThereIsNotRun)
{
    const std::string output = output_of({.modules = {"none/1"}, .image = {}});

    EXPECT_EQ(output, "fathom: the modules of this job cannot be loaded\n=127\n");
}

TEST_F(SoftwareTest, AContainerSeesTheWorkingFolderAndTheModules)
{
    const std::string work = (folder_.path() / "work here").string();

    const std::string output =
        output_of({.modules = {"gcc"}, .image = "docker.io/library/debian:12"}, "docker://docker.io/library/debian:12");

    EXPECT_THAT(output, HasSubstr("container: exec --bind " + work + " --pwd " + work +
                                  " docker://docker.io/library/debian:12 "));
    EXPECT_THAT(output, HasSubstr("gcc|yes|name|it's; \"one\"\n" + work));
}

TEST_F(SoftwareTest, PodmanIsGivenItsOwnWords)
{
    place_.container_program = "/usr/bin/podman";

    const std::vector<std::string> words =
        software_words({.modules = {}, .image = "docker.io/library/debian:12"}, place_, true).value();

    EXPECT_THAT(words, ElementsAre("/bin/bash", "-c",
                                   "exec '/usr/bin/podman' run --rm --network=host --env-host --volume=\"$PWD:$PWD\" "
                                   "--workdir=\"$PWD\" --device=nvidia.com/gpu=all 'docker.io/library/debian:12' "
                                   "\"$@\"\n",
                                   "fathom-software"));
}

TEST_F(SoftwareTest, WhatTheCenterLacksIsRefusedAndWhatNobodyNeedsAddsNothing)
{
    EXPECT_TRUE(software_words({}, {}, false).value().empty());
    EXPECT_EQ(software_words({.modules = {"gcc"}, .image = {}}, {}, false).error().code, Errc::kInfeasible);
    EXPECT_FALSE(software_words({.modules = {}, .image = "a"}, {.modules_file = "/m", .container_program = {}}, false));
}

TEST_F(SoftwareTest, IsAFactOfTheCenter)
{
    EXPECT_EQ(software_facts(place_),
              (Json{{"modules", true}, {"containers", true}, {"container_runtime", "apptainer"}}));
    EXPECT_EQ(find_software({.modules = "off", .containers = "off"}).kinds(), SoftwareKinds());
    EXPECT_EQ(find_software({.modules = "/opt/modules.sh", .containers = "off"}).modules_file, "/opt/modules.sh");
}

TEST_F(SoftwareTest, TheWordsGoToTheSupervisorWithTheOrder)
{
    RunOrder run;
    run.order = test::shell_order("true");
    run.before = {"/bin/bash", "-c", "exec \"$@\"\n", "fathom-software"};

    EXPECT_EQ(read_run_order(to_json(run)).value().before, run.before);
}

} // namespace
} // namespace fathom::agent
