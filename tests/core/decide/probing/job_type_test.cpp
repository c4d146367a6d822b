#include "core/decide/probing/job_type.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace fathom {
namespace {

using testing::StartsWith;

OperatorManifest manifest(const std::string& id)
{
    OperatorManifest one;
    one.id = id;
    one.parameters = {{"n", 1, 100000, 100, ""}};
    one.operation_count = "n^3";
    one.byte_count = "8*n^2";
    one.size_classes = {{"small", {{"n", 100}}}, {"large", {{"n", 1000}}}};
    return one;
}

const std::vector<OperatorManifest>& library()
{
    static const std::vector<OperatorManifest> manifests{manifest("dgemm"), manifest("fft3d"), manifest("spmv")};
    return manifests;
}

const OperatorManifest* find(std::string_view id, std::int64_t)
{
    for (const OperatorManifest& one : library())
        if (one.id == id) return &one;
    return nullptr;
}

OperatorUse use(const std::string& id, std::int64_t n, std::int64_t count = 1)
{
    OperatorUse one;
    one.id = id;
    one.parameters = {{"n", n}};
    one.count = count;
    return one;
}

JobSpec running(std::vector<std::string> command)
{
    JobSpec spec;
    spec.command = std::move(command);
    return spec;
}

std::string application(std::vector<std::string> command)
{
    return application_of(running(std::move(command)));
}

TEST(OperatorMix, SharesAreOfTheWorkBySizeClass)
{
    const OperatorMix mix = operator_mix({use("dgemm", 1000, 3), use("dgemm", 900), use("fft3d", 1000, 1)}, find);

    ASSERT_EQ(mix.size(), 2U);
    const double work = 3e9 + 0.729e9 + 1e9;
    EXPECT_NEAR(mix.at("dgemm/large"), (3e9 + 0.729e9) / work, 1e-12);
    EXPECT_NEAR(mix.at("fft3d/large"), 1e9 / work, 1e-12);
}

TEST(OperatorMix, MeasuredSharesOfTimeCountMoreThanWork)
{
    OperatorUse much = use("dgemm", 1000, 1000);
    OperatorUse little = use("fft3d", 100);
    much.share = 0.25;
    little.share = 0.75;

    const OperatorMix mix = operator_mix({much, little}, find);

    EXPECT_DOUBLE_EQ(mix.at("dgemm/large"), 0.25);
    EXPECT_DOUBLE_EQ(mix.at("fft3d/small"), 0.75);
}

TEST(OperatorMix, HasSharesWhateverFormulasGive)
{
    OperatorManifest endless = manifest("endless");
    endless.operation_count = "1e300*n";
    OperatorManifest idle = manifest("idle");
    idle.operation_count = idle.byte_count = "0*n";
    const auto all = [&](std::string_view id, std::int64_t) { return id == "endless" ? &endless : &idle; };

    for (const OperatorMix& mix :
         {operator_mix({use("endless", 100, 1'000'000'000'000)}, all), operator_mix({use("idle", 100)}, all)}) {
        ASSERT_EQ(mix.size(), 1U);
        EXPECT_EQ(mix.begin()->second, 1);
    }
}

TEST(MixDistance, IsOneMinusWhatIsCommon)
{
    EXPECT_DOUBLE_EQ(mix_distance({{"a", 1}}, {{"b", 1}}), 1);
    EXPECT_DOUBLE_EQ(mix_distance({{"a", 1}}, {{"a", 1}}), 0);
    EXPECT_NEAR(mix_distance({{"a", 0.9}, {"b", 0.1}}, {{"a", 0.7}, {"b", 0.3}}), 0.2, 1e-12);
}

rc::Gen<OperatorUse> any_use()
{
    return rc::gen::map(
        rc::gen::tuple(rc::gen::element<std::string>("dgemm", "fft3d", "spmv", "unknown"),
                       rc::gen::inRange<std::int64_t>(1, 5000), rc::gen::inRange<std::int64_t>(1, 100000)),
        [](const auto& parts) { return use(std::get<0>(parts), std::get<1>(parts), std::get<2>(parts)); });
}

std::vector<OperatorUse> any_operators()
{
    return *rc::gen::nonEmpty(rc::gen::container<std::vector<OperatorUse>>(any_use()));
}

RC_GTEST_PROP(MixDistance, DoesNotDependOnTheOrder, ())
{
    std::vector<OperatorUse> uses = any_operators();
    const OperatorMix before = operator_mix(uses, find);
    std::reverse(uses.begin(), uses.end());
    RC_ASSERT(mix_distance(before, operator_mix(uses, find)) < 1e-9);
}

RC_GTEST_PROP(MixDistance, IsAMeasureBetweenZeroAndOne, ())
{
    const OperatorMix a = operator_mix(any_operators(), find);
    const OperatorMix b = operator_mix(any_operators(), find);
    RC_ASSERT(mix_distance(a, a) < 1e-9);
    RC_ASSERT(mix_distance(a, b) == mix_distance(b, a));
    RC_ASSERT(mix_distance(a, b) >= 0 && mix_distance(a, b) <= 1);
}

RC_GTEST_PROP(MixDistance, MoreRunsOfTheSameAreTheSameMix, ())
{
    std::vector<OperatorUse> uses = any_operators();
    const OperatorMix once = operator_mix(uses, find);
    for (OperatorUse& one : uses)
        one.count *= 7;
    RC_ASSERT(mix_distance(once, operator_mix(uses, find)) < 1e-9);
}

RC_GTEST_PROP(NameOfMix, FitsAndIsStable, ())
{
    const OperatorMix mix = operator_mix(any_operators(), find);
    RC_ASSERT(name_of_mix(mix).size() <= 200U);
    RC_ASSERT(name_of_mix(mix) == name_of_mix(OperatorMix(mix)));
}

TEST(NameOfMix, NamesTheLargestPartsFirst)
{
    EXPECT_EQ(name_of_mix({{"dgemm/large", 0.9}, {"fft3d/small", 0.1}}), "mix/dgemm/large:90+fft3d/small:10");
    const OperatorMix many{{"a", 0.3}, {"b", 0.25}, {"c", 0.2}, {"d", 0.15}, {"e", 0.1}};
    EXPECT_THAT(name_of_mix(many), StartsWith("mix/a:30+b:25+c:20+d:15#"));
    const OperatorMix other{{"a", 0.3}, {"b", 0.25}, {"c", 0.2}, {"d", 0.15}, {"f", 0.1}};
    EXPECT_NE(name_of_mix(many), name_of_mix(other));
}

TEST(ApplicationOf, LooksThroughInterpretersAndLaunchers)
{
    EXPECT_EQ(application({"/usr/bin/pw.x", "-in", "si.in"}), "pw.x");
    EXPECT_EQ(application({"python3", "-u", "/home/me/solve.py", "--size", "100"}), "solve.py");
    EXPECT_EQ(application({"python3.11", "-m", "solver.main"}), "solver.main");
    EXPECT_EQ(application({"Rscript", "fit.R"}), "fit.R");
    EXPECT_EQ(application({"mpirun", "-np", "4", "--bind-to", "core", "gmx_mpi", "mdrun"}), "gmx_mpi");
    EXPECT_EQ(application({"srun", "-n", "8", "lmp", "-in", "melt.in"}), "lmp");
    EXPECT_EQ(application({"env", "OMP_NUM_THREADS=4", "-u", "HOME", "python3", "a.py"}), "a.py");
    EXPECT_EQ(application({"sh", "run.sh"}), "run.sh");
    EXPECT_EQ(application({"bash", "-c", "X=1 pw.x -in si.in"}), "pw.x");
    EXPECT_EQ(application({"mpirun", "sh", "-c", "python3 solve.py"}), "solve.py");
    EXPECT_EQ(application({"sh"}), "sh");
    EXPECT_EQ(application({"python3", "-c"}), "python3");
    EXPECT_EQ(application({"env", "A=1"}), "env");
}

TEST(ApplicationOf, TellsCodeWithoutAFileApartByWhatItSays)
{
    EXPECT_THAT(application({"python3", "-c", "print(1)"}), StartsWith("python-"));
    EXPECT_EQ(application({"python3", "-c", "print(1)"}), application({"/usr/bin/python3", "-c", "print(1)"}));
    EXPECT_NE(application({"python3", "-c", "print(1)"}), application({"python3", "-c", "print(2)"}));
    EXPECT_THAT(application({"sh", "-c", "cd x && pw.x"}), StartsWith("sh:pw.x-"));
    EXPECT_THAT(
        application({"sh", "-c", "for f in a b; do LEVEL=9 /usr/bin/zstd -q $f; done | tee log; openssl speed"}),
        StartsWith("sh:zstd+tee+openssl-"));
    EXPECT_THAT(application({"sh", "-c", "\"$PROGRAM\" -x; exit 1"}), StartsWith("sh-"));
    EXPECT_EQ(application({"sh", "-c", "cd x && pw.x"}).size(), std::string("sh:pw.x-").size() + 8);
    JobSpec script;
    script.script = "#!/bin/sh\npw.x\n";
    EXPECT_THAT(application_of(script), StartsWith("script-"));
}

TEST(JobTypeFor, TheUsersWordComesFirst)
{
    JobSpec spec = running({"pw.x"});
    spec.type = "qe/scf";
    spec.operators = {use("dgemm", 1000)};
    EXPECT_EQ(job_type_for(spec, {}, find).name, "qe/scf");
    EXPECT_EQ(job_type_for(spec, {}, find).origin, JobTypeOrigin::kUser);
}

TEST(JobTypeFor, WithoutOperatorsItIsTheApplicationAndItsUnits)
{
    JobSpec spec = running({"mpirun", "-np", "2", "pw.x"});
    EXPECT_EQ(job_type_for(spec, {}, find).name, "app/pw.x");
    spec.units.count = 1;
    EXPECT_EQ(job_type_for(spec, {}, find).name, "app/pw.x") << "what a job gets that leaves the count open";
    spec.units.count = 4;
    EXPECT_EQ(job_type_for(spec, {}, find).name, "app/pw.x@4");
    spec.command = {std::string(500, 'x')};
    EXPECT_LE(job_type_for(spec, {}, find).name.size(), 200U);
}

TEST(JobTypeFor, TakesTheNearestKnownMixWithinTheThreshold)
{
    JobSpec spec = running({"solver"});
    spec.operators = {use("dgemm", 1000, 85), use("fft3d", 1000, 15)};
    const std::vector<KnownMix> known{{"far", {{"fft3d/large", 1}}},
                                      {"near", {{"dgemm/large", 0.9}, {"fft3d/large", 0.1}}},
                                      {"nearer", {{"dgemm/large", 0.86}, {"fft3d/large", 0.14}}}};
    EXPECT_EQ(job_type_for(spec, known, find).name, "nearer");
    EXPECT_EQ(job_type_for(spec, known, find).origin, JobTypeOrigin::kMix);
    EXPECT_EQ(job_type_for(spec, {known.data(), 2}, find).name, "near");
    EXPECT_EQ(job_type_for(spec, {known.data(), 1}, find).name, "mix/dgemm/large:85+fft3d/large:15");
    EXPECT_EQ(job_type_for(spec, known, find, 0.001).name, "mix/dgemm/large:85+fft3d/large:15");
}

RC_GTEST_PROP(JobTypeFor, DoesNotDependOnTheOrderOfWhatIsKnown, ())
{
    JobSpec spec = running({"solver"});
    spec.operators = any_operators();
    std::vector<KnownMix> known;
    for (const char* name : {"c", "a", "b"})
        known.push_back({name, operator_mix(any_operators(), find)});
    known.push_back({"d", known[0].mix});
    const std::string type = job_type_for(spec, known, find, 1).name;
    std::reverse(known.begin(), known.end());
    RC_ASSERT(job_type_for(spec, known, find, 1).name == type);
}

} // namespace
} // namespace fathom
