#include "agent/executor/kubernetes/job_manifest.hpp"
#include "tests/agent/support/builders.hpp"

#include <gmock/gmock.h>

namespace fathom::agent {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

RunOrder run_of_two_units()
{
    RunOrder run;
    run.order = test::shell_order("true");
    run.order.label = "job";
    run.order.unit_count = 2;
    run.order.wall_limit_s = 60;
    run.order.owner = {.submitter = "tok_1", .account = "ann@example.org", .project = "open"};
    run.place = BatchPlace{.partition = {},
                           .constraint = "kubernetes.io/arch=amd64&pool=gpu",
                           .cpus_per_unit = 3,
                           .units_per_node = 4,
                           .memory_bytes_per_unit = 1'000,
                           .devices_per_unit = 1,
                           .devices = "nvidia.com/gpu"};
    return run;
}

JobManifestOptions options_of_claim()
{
    return {.center = "alpha",
            .image = "registry/jobs:1",
            .pull_secrets = {"pull"},
            .node_selector = {{"zone", "a"}},
            .uid = 2000,
            .gid = 2001,
            .volume_claim = "claim",
            .volume_folder = "/shared",
            .programs = "/opt/fathom",
            .input_folders = {"/shared/data"}};
}

TEST(KubernetesManifests, AskForWhatTheUnitsHaveAndGiveNoRights)
{
    const RunOrder run = run_of_two_units();

    const Json job = job_manifest(run, {"/shared/work/x"}, options_of_claim()).value();

    const Json& pod = job["spec"]["template"]["spec"];
    const Json& container = pod["containers"].at(0);
    const Json amounts = {{"cpu", "6"}, {"memory", "2000"}, {"nvidia.com/gpu", "2"}};
    EXPECT_EQ(container["resources"], (Json{{"requests", amounts}, {"limits", amounts}}));
    EXPECT_EQ(container["command"], (Json::array({"/bin/sh", "/shared/work/x/job.sh"})));
    EXPECT_EQ(container["env"].at(0)["valueFrom"]["fieldRef"]["fieldPath"], "metadata.name");
    EXPECT_EQ(container["securityContext"]["allowPrivilegeEscalation"], false);
    EXPECT_EQ(container["securityContext"]["capabilities"]["drop"], Json::array({"ALL"}));
    EXPECT_EQ(pod["securityContext"]["runAsUser"], 2000);
    EXPECT_EQ(pod["securityContext"]["runAsNonRoot"], true);
    EXPECT_EQ(pod["securityContext"]["seccompProfile"]["type"], "RuntimeDefault");
    EXPECT_EQ(pod["automountServiceAccountToken"], false);
    EXPECT_EQ(pod["restartPolicy"], "Never");
    EXPECT_EQ(pod["activeDeadlineSeconds"], 60 + 600 + 5);
    EXPECT_EQ(pod["imagePullSecrets"].at(0)["name"], "pull");
    EXPECT_EQ(pod["nodeSelector"], (Json{{"kubernetes.io/arch", "amd64"}, {"pool", "gpu"}, {"zone", "a"}}));
    EXPECT_EQ(job["spec"]["backoffLimit"], 0);
}

TEST(KubernetesManifests, AreNamedAndLabelledAfterTheirAttempt)
{
    const RunOrder run = run_of_two_units();

    const Json job = job_manifest(run, {"/shared/work/x"}, options_of_claim()).value();

    const std::string name = job["metadata"]["name"];
    EXPECT_EQ(name, job_name(run.order.attempt_id));
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"), std::string::npos) << name;
    const Json& labels = job["metadata"]["labels"];
    EXPECT_EQ(labels["app.kubernetes.io/managed-by"], "fathom");
    EXPECT_EQ(labels["fathom/center"], "alpha");
    EXPECT_EQ(labels["fathom/attempt"], run.order.attempt_id.value);
    EXPECT_EQ(labels["fathom/kind"], "job");
    EXPECT_EQ(labels["fathom/user"], "ann-example.org");
    EXPECT_EQ(labels["fathom/project"], "open");
    EXPECT_EQ(job["spec"]["template"]["metadata"]["labels"], labels);
}

TEST(KubernetesManifests, ShowAPodItsOwnFolderOfTheVolumeOnly)
{
    RunOrder run = run_of_two_units();

    const Json without = job_manifest(run, {"/shared/work/x"}, options_of_claim()).value();
    run.order.inputs = {{"file:///shared/data/y", "y", "", std::nullopt}};
    const Json with_inputs = job_manifest(run, {"/shared/work/x"}, options_of_claim()).value();

    const auto mounts = [](const Json& job) {
        return job["spec"]["template"]["spec"]["containers"][0]["volumeMounts"];
    };
    EXPECT_EQ(
        mounts(without),
        Json::array({{{"name", "work"}, {"mountPath", "/shared/work/x"}, {"subPath", "work/x"}, {"readOnly", false}}}));
    ASSERT_EQ(mounts(with_inputs).size(), 2U);
    EXPECT_EQ(mounts(with_inputs)[1]["subPath"], "data");
    EXPECT_EQ(mounts(with_inputs)[1]["readOnly"], true);
}

TEST(KubernetesManifests, TakeFoldersOfTheNodeWithoutAClaim)
{
    JobManifestOptions options = options_of_claim();
    options.volume_claim.clear();
    options.programs = "/shared/bin";

    const Json job = job_manifest(run_of_two_units(), {"/shared/work/x"}, options).value();

    const Json& volumes = job["spec"]["template"]["spec"]["volumes"];
    ASSERT_EQ(volumes.size(), 2U);
    EXPECT_EQ(volumes[0]["hostPath"], (Json{{"path", "/shared/work/x"}, {"type", "Directory"}}));
    EXPECT_EQ(volumes[1]["hostPath"]["path"], "/shared/bin");
}

TEST(KubernetesManifests, AreRefusedWhereNoPodCouldRunThem)
{
    RunOrder run = run_of_two_units();
    EXPECT_EQ(job_manifest(run, {"/elsewhere/x"}, options_of_claim()).error().code, Errc::kInfeasible);
    run.order.unit_count = 5;
    EXPECT_THAT(job_manifest(run, {"/shared/x"}, options_of_claim()).error().detail, HasSubstr("at most 4 units"));
    run.place->constraint = "a b";
    run.order.unit_count = 1;
    EXPECT_EQ(job_manifest(run, {"/shared/x"}, options_of_claim()).error().code, Errc::kInvalid);
    run.place.reset();
    EXPECT_EQ(job_manifest(run, {"/shared/x"}, options_of_claim()).error().code, Errc::kInvalid);
}

TEST(KubernetesImages, AreTheCentersUnlessAJobNamesOne)
{
    KubernetesConfig config;
    config.image = "registry/jobs:1";
    AttemptOrder order = run_of_two_units().order;
    EXPECT_EQ(pod_image(order, config).value(), "registry/jobs:1");
    order.label = "probe";
    EXPECT_EQ(pod_image(order, config).value(), "registry/jobs:1");
    config.probe_image = "registry/probes:1";
    EXPECT_EQ(pod_image(order, config).value(), "registry/probes:1");

    order.label = "job";
    config.takes_job_images = true;
    EXPECT_EQ(pod_image(order, config).value(), "registry/jobs:1");
    order.software.image = "docker.io/gromacs/gromacs:2023";
    EXPECT_EQ(pod_image(order, config).value(), "docker.io/gromacs/gromacs:2023");
}

TEST(KubernetesImages, AreRefusedWhereNoPodHasThem)
{
    KubernetesConfig config;
    config.image = "registry/jobs:1";
    AttemptOrder order = run_of_two_units().order;
    order.software.image = "docker.io/gromacs/gromacs:2023";
    EXPECT_THAT(pod_image(order, config).error().detail, HasSubstr("kubernetes_job_images"));

    config.takes_job_images = true;
    order.software.image = "/images/gromacs.sif";
    EXPECT_THAT(pod_image(order, config).error().detail, HasSubstr("/images/gromacs.sif is the path of a file"));
    order.software = {.modules = {"gcc/12.2"}, .image = {}};
    EXPECT_EQ(pod_image(order, config).error().code, Errc::kInfeasible);
}

TEST(KubernetesLabels, HaveWhatALabelMayHave)
{
    EXPECT_EQ(label_value("tok_1"), "tok_1");
    EXPECT_EQ(label_value("--Ann Smith!"), "Ann-Smith");
    EXPECT_EQ(label_value(std::string(70, 'a')).size(), 63U);
    EXPECT_EQ(label_value("***"), "");
    EXPECT_THAT(parse_label_selector("a=b,c/d=e&f").value(),
                ElementsAre(Pair("a", "b"), Pair("c/d", "e"), Pair("f", "")));
    EXPECT_FALSE(parse_label_selector("=b"));
}

TEST(KubernetesScripts, RunTheProgramInTheFirstPodOnlyAndPassSigtermOn)
{
    const RunOrder run = run_of_two_units();

    const std::string script = pod_script(run, {"/shared/work/x"}, "/opt/fathom", "ann");

    EXPECT_THAT(script, HasSubstr("set -C; echo \"$FATHOM_POD_NAME\" >\"$fathom_report/first\""));
    EXPECT_THAT(script, HasSubstr("exec 'sh' '-c' 'true'"));
    EXPECT_THAT(script, HasSubstr("trap 'kill -TERM"));
    EXPECT_THAT(script, Not(HasSubstr("fathom-stage")));
}

} // namespace
} // namespace fathom::agent
