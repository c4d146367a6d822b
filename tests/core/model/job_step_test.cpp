#include "core/model/job_parts.hpp"

#include <gmock/gmock.h>

namespace fathom {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Three steps, of which the second one stages an input and each hands a file to the next.
Json stepped(Json more = Json::object())
{
    const auto dgemm = [](int count) { return Json::array({{{"id", "dgemm"}, {"count", count}}}); };
    const auto file = [](const char* path, const char* url) { return Json::array({{{"path", path}, {"url", url}}}); };
    Json json = {{"project", "p"},
                 {"split", "allowed"},
                 {"outputs", file("end", "https://h/end")},
                 {"steps",
                  {{{"name", "read"},
                    {"command", {"/bin/read", "it's"}},
                    {"operators", dgemm(1)},
                    {"hands_on", file("a", "https://h/a")},
                    {"out_bytes", 1e6}},
                   {{"name", "pack"},
                    {"command", {"pack"}},
                    {"operators", {{{"id", "sort"}}, {{"id", "sort"}, {"count", 2}}}},
                    {"inputs", Json::array({{{"url", "https://h/in"}, {"path", "in"}}})},
                    {"hands_on", file("b", "https://h/b")},
                    {"out_bytes", 2e6}},
                   {{"name", "solve"}, {"command", {"solve"}}, {"operators", dgemm(3)}}}}};
    json.update(more);
    return json;
}

std::string refusal_of(const Json& json)
{
    const Result<JobSpec> spec = parse_job_spec(json);
    return spec ? "taken" : describe(spec.error());
}

std::vector<std::int64_t> counts_of(const JobSpec& spec)
{
    std::vector<std::int64_t> counts;
    for (const OperatorUse& use : spec.operators)
        counts.push_back(use.count);
    return counts;
}

/// Read on a CPU, the others on a GPU.
JobSteps divided(const JobSpec& spec)
{
    JobSteps steps = make_job_steps(spec);
    steps.parts = {{.steps = {0, 1, "cpu"}, .predicted_s = 2}, {.steps = {1, 2, "gpu"}, .predicted_s = 30}};
    steps.division = {{"center", "alpha"}};
    return steps;
}

TEST(StepsOfJob, AJobWithStepsIsTheOneThatRunsAllOfThem)
{
    const Result<JobSpec> spec = parse_job_spec(stepped());

    ASSERT_TRUE(spec) << describe(spec.error());
    EXPECT_TRUE(spec->may_split);
    EXPECT_EQ(spec->steps.size(), 3U);
    EXPECT_THAT(counts_of(*spec), ElementsAre(1, 1, 2, 3));
    EXPECT_EQ(spec->inputs.size(), 1U);
    EXPECT_EQ(spec->outputs.at(0).path, "end") << "what is handed on stays in the working folder";
    EXPECT_EQ(spec->name, "read");
    EXPECT_EQ(spec->script,
              "#!/bin/sh\n"
              "'/bin/read' 'it'\\''s' || { code=$?; printf '%s\\n' 'step read failed' >&2; exit $code; }\n"
              "'pack' || { code=$?; printf '%s\\n' 'step pack failed' >&2; exit $code; }\n"
              "'solve' || { code=$?; printf '%s\\n' 'step solve failed' >&2; exit $code; }\n");
    EXPECT_FALSE(to_json(*spec).contains("steps"));
}

TEST(StepsOfJob, RefusesWhatStandsTwiceOrCannotBePassed)
{
    Json twice = stepped();
    twice["steps"][1]["name"] = "read";
    Json last = stepped();
    last["steps"][2]["hands_on"] = Json::array({{{"path", "c"}, {"url", "https://h/c"}}});
    last["steps"][2]["out_bytes"] = 1;
    Json hidden = stepped();
    hidden["steps"][0]["hands_on"][0]["url"] = "s3://bucket/a";
    Json on_input = stepped();
    on_input["steps"][0]["hands_on"][0]["path"] = "in";
    Json below = stepped();
    below["steps"][2]["inputs"] = Json::array({{{"url", "https://h/x"}, {"path", "in/x"}}});
    Json without_bytes = stepped();
    without_bytes["steps"][0].erase("out_bytes");
    Json without_operators = stepped();
    without_operators["steps"][2].erase("operators");

    EXPECT_THAT(refusal_of(stepped({{"command", {"true"}}})), HasSubstr("command: stand in the steps"));
    EXPECT_THAT(refusal_of(twice), HasSubstr("steps[1].name: is that of an earlier step, too"));
    EXPECT_THAT(refusal_of(last), HasSubstr("the last step hands nothing on"));
    EXPECT_THAT(refusal_of(hidden), HasSubstr("steps[0].hands_on: must be https, http or file URLs, not s3"));
    EXPECT_THAT(
        refusal_of(on_input),
        HasSubstr("steps[0].hands_on: beside the inputs of all steps, inputs[1].path collides with that of inputs[0]"));
    EXPECT_THAT(refusal_of(below), HasSubstr("inputs[1].path collides with that of inputs[0]"));
    EXPECT_THAT(refusal_of(without_bytes), HasSubstr("steps[0].out_bytes: is required"));
    EXPECT_THAT(refusal_of(without_operators), HasSubstr("steps[2].operators: is required"));
    EXPECT_THAT(refusal_of({{"command", {"true"}}, {"split", "allowed"}}),
                HasSubstr("a job without steps cannot be divided"));
}

TEST(StepsOfJob, WhatIsWrongWithThemIsSaidOfTheStepInWhichItStands)
{
    const JobSpec spec = parse_job_spec(stepped()).value();
    JobSpec without_steps;
    without_steps.inputs = spec.inputs;

    EXPECT_EQ(path_of_operator(spec, 0), "steps[0].operators[0]");
    EXPECT_EQ(path_of_operator(spec, 2), "steps[1].operators[1]");
    EXPECT_EQ(path_of_operator(spec, 3), "steps[2].operators[0]");
    EXPECT_EQ(path_of_input(spec, 0), "steps[1].inputs[0]");
    EXPECT_EQ(path_of_operator(without_steps, 2), "operators[2]");
    EXPECT_EQ(path_of_input(without_steps, 0), "inputs[0]");
    EXPECT_THAT(refusal_of(stepped({{"files", {{"in", "x"}}}})),
                HasSubstr("steps[1].inputs[0].path: is the name of one of files"));
}

TEST(StepsOfJob, AJobThatMayBeDividedLeavesTheKindOfUnitOpen)
{
    const Json gpu = {{"units", {{"device", "gpu"}}}};

    EXPECT_THAT(refusal_of(stepped(gpu)), HasSubstr("units: a job that may be divided runs on CPUs and GPUs"));
    EXPECT_THAT(refusal_of(stepped({{"gang", {{"id", "g"}, {"size", 2}}}})), HasSubstr("a member of a gang"));
    EXPECT_THAT(refusal_of(stepped({{"data", {{"out_bytes", 5}}}})), HasSubstr("only sites may be named here"));
    Json kept = gpu;
    kept["split"] = "never";
    EXPECT_EQ(refusal_of(stepped(kept)), "taken");
}

TEST(StepsOfJob, APartHasTheCommandsOperatorsAndInputsOfItsSteps)
{
    const JobSpec whole = parse_job_spec(stepped()).value();

    const JobSpec first = part_of(whole, {0, 1, "cpu"});
    const JobSpec rest = part_of(whole, {1, 2, "gpu"});

    EXPECT_THAT(first.command, ElementsAre("/bin/read", "it's"));
    EXPECT_TRUE(first.script.empty());
    EXPECT_THAT(counts_of(first), ElementsAre(1));
    EXPECT_TRUE(first.inputs.empty());
    EXPECT_THAT(first.outputs, ElementsAre(JobOutput{"a", "https://h/a"})) << "the step after it reads it elsewhere";
    EXPECT_EQ(first.units.device, "cpu");
    EXPECT_TRUE(rest.command.empty());
    EXPECT_THAT(rest.script, AllOf(HasSubstr("'pack' ||"), HasSubstr("'solve' ||"), Not(HasSubstr("read"))));
    EXPECT_THAT(counts_of(rest), ElementsAre(1, 2, 3));
    EXPECT_EQ(rest.inputs.at(0).path, "in");
    EXPECT_THAT(rest.outputs, ElementsAre(JobOutput{"end", "https://h/end"}));
    EXPECT_TRUE(parse_job_spec(to_json(rest))) << "a part is an ordinary job";
}

TEST(StepsOfJob, WhatIsStoredIsReadAgain)
{
    const JobSpec spec = parse_job_spec(stepped()).value();
    JobSteps steps = divided(spec);
    steps.parts[0].attempt_id = "att_1";
    steps.parts[0].place = "alpha/core";
    steps.parts[0].passing_s = 0.5;
    steps.parts[0].placed = PartRun{1.25, 1, 2};
    steps.parts[0].started_at = parse_rfc3339("2030-01-01T00:00:00Z").value();
    steps.parts[0].ended_at = parse_rfc3339("2030-01-01T00:00:02Z").value();
    steps.parts[0].run_s = 1.5;
    steps.parts[0].cost = 0.25;
    steps.part = 1;
    steps.type = "t / pack to solve";
    steps.whole = to_json(spec);

    const Result<JobSteps> again = parse_stored_steps(to_json(steps));

    ASSERT_TRUE(again) << describe(again.error());
    EXPECT_EQ(to_json(*again), to_json(steps));
    EXPECT_EQ(again->parts, steps.parts);
    EXPECT_EQ(parse_stored_parts(to_json(steps)["parts"]).value(), steps.parts);
    const Result<JobSpec> whole = whole_of(*again, to_json(part_of(spec, steps.parts[1].steps)));
    ASSERT_TRUE(whole) << describe(whole.error());
    EXPECT_EQ(to_json(*whole), to_json(spec));
    EXPECT_EQ(whole->steps, spec.steps);
    EXPECT_FALSE(parse_stored_steps({{"split", "allowed"}}));
    EXPECT_FALSE(parse_stored_parts({{"first_step", 0}}));
}

TEST(StepsOfJob, WhatIsPredictedOfAllPartsIsOfTheirProgramsAsFarAsTheyArePlacedByTheirPlacements)
{
    std::vector<JobPart> parts = divided(parse_job_spec(stepped()).value()).parts;
    parts[0].passing_s = 0.5;
    EXPECT_EQ(predicted_run(parts, 0, std::nullopt), (PartRun{31.5, 31.5, 31.5})) << "without handing on";
    EXPECT_EQ(predicted_run(parts, 0, PartRun{3, 2, 5}), (PartRun{33, 32, 35}));

    parts[0].placed = PartRun{3, 2, 5};
    EXPECT_EQ(predicted_run(parts, 1, std::nullopt), (PartRun{33, 32, 35}));
    EXPECT_EQ(predicted_run(parts, 1, PartRun{20, 10, 40}), (PartRun{23, 12, 45}));
}

TEST(StepsOfJob, APartEndsBeforeThoseAfterItAndCostsWhatEarlierOnesLeft)
{
    JobSpec whole = parse_job_spec(stepped({{"deadline", "2030-01-01T00:01:00Z"},
                                            {"budget", {{"amount", "2"}, {"currency", "EUR"}}}}))
                        .value();
    JobSteps steps = divided(whole);

    const Result<JobSpec> first = spec_of_part(whole, steps);
    steps.parts[0].cost = 0.5;
    steps.part = 1;
    const Result<JobSpec> second = spec_of_part(whole, steps);
    steps.parts[0].cost = 2;
    const Result<JobSpec> beyond = spec_of_part(whole, steps);

    EXPECT_EQ(format_rfc3339(*first->deadline), "2030-01-01T00:00:30.000000Z");
    EXPECT_EQ(first->budget->micros, 2'000'000);
    EXPECT_EQ(second->deadline, whole.deadline);
    EXPECT_EQ(second->budget->micros, 1'500'000);
    ASSERT_FALSE(beyond);
    EXPECT_EQ(beyond.error().detail, "its budget of 2 EUR is used up before part 2 of 2 (steps pack, solve, on GPU)");
}

TEST(StepsOfJob, FilesOfOneCenterKeepAllPartsThere)
{
    Json json = stepped();
    json["steps"][0]["hands_on"][0]["url"] = "file:///shared/a";
    const JobSpec at_center = parse_job_spec(json).value();
    const JobSpec anywhere = parse_job_spec(stepped()).value();

    EXPECT_EQ(spec_of_part(at_center, divided(at_center))->units.center, "alpha");
    EXPECT_EQ(spec_of_part(anywhere, divided(anywhere))->units.center, "");
}

TEST(StepsOfJob, APartHasATypeOfItsOwn)
{
    JobSteps steps = divided(parse_job_spec(stepped()).value());

    EXPECT_EQ(type_of_part("scf", steps), "scf / read");
    EXPECT_EQ(type_of_part("", steps), "");
    steps.part = 1;
    EXPECT_EQ(type_of_part("scf", steps), "scf / pack to solve");
}

} // namespace
} // namespace fathom
