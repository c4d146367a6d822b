#include "core/decide/corun/corun_json.hpp"
#include "core/decide/corun/corun_question.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace fathom {
namespace {

using testing::UnorderedElementsAre;

/// Two memory-intensive kernels run, a compute-intensive one waits; of one the instructions are predicted.
Json question()
{
    return Json::parse(R"({
      "device_balance": 10,
      "running": [
        {"id": "a", "kind": "norm", "class": "memory", "instructions": 1100000, "instructions_done": 100000, "ipc": 1,
         "ipc_alone": 2, "l2_miss_rate": 0.5, "register_bytes": 32768, "shared_bytes": 16384, "thread_blocks": 64},
        {"id": "b", "kind": "copy", "operations": 1, "memory_bytes": 8, "application": "train", "input_size": 200,
         "instructions_done": 0, "ipc": 0.8, "ipc_alone": 2, "l2_miss_rate": 0.5, "register_bytes": 32768,
         "shared_bytes": 16384, "thread_blocks": 64}],
      "waiting": [{"id": "c", "kind": "conv", "class": "compute", "order": 3}],
      "pairs": [{"a": "norm", "b": "conv", "a_normalized_ipc": 0.7, "b_normalized_ipc": 0.8, "count": 4}],
      "runs": [
        {"application": "train", "kernel": "copy", "input_size": 100, "instructions": 5000000},
        {"application": "train", "kernel": "copy", "input_size": 400, "instructions": 20000000}]})");
}

std::vector<std::string> fields_of(const Json& json)
{
    const Result<CorunQuestion> read = parse_corun_question(json);
    std::vector<std::string> fields;
    if (read) return fields;
    const Error error = read.error();
    for (const FieldError& field : error.fields)
        fields.push_back(field.field);
    return fields;
}

TEST(CorunQuestion, IsReadAndDecided)
{
    const Result<CorunQuestion> read = parse_corun_question(question());

    ASSERT_TRUE(read) << describe(read.error());
    const Json answer = to_json(decide_corun(read->state, read->pairs).value(), *read);
    EXPECT_EQ(answer["action"], "preempt");
    EXPECT_EQ(answer["launch"], "c");
    EXPECT_EQ(answer["victims"], Json::array({"b"}));
    EXPECT_NEAR(answer["figures"]["preempt_cycles"].get<double>(), 201'200.8, 0.1);
    EXPECT_NEAR(answer["combined_then"].get<double>(), 1.5, 1e-9);
    EXPECT_EQ(answer["basis"][0]["source"], "measured");
    EXPECT_EQ(answer["classes"][1]["class"], "memory");
    EXPECT_EQ(answer["classes"][1]["source"], "measured");
    EXPECT_NEAR(answer["predicted"][0]["instructions"].get<double>(), 1e7, 1e3);
    EXPECT_EQ(answer["prediction_errors"]["runs"], 2);
}

TEST(CorunQuestion, TellsAClassFromTimesAtTwoClocks)
{
    Json timed = question();
    timed["waiting"][0].erase("class");
    timed["waiting"][0]["clock_ratio"] = 0.5;
    timed["waiting"][0]["time_ratio"] = 1.95;

    const Result<CorunQuestion> read = parse_corun_question(timed);
    ASSERT_TRUE(read) << describe(read.error());
    EXPECT_EQ(read->classes.back().finding.kernel_class, KernelClass::kCompute);
    EXPECT_EQ(read->classes.back().finding.source, ClassSource::kTimed);

    timed["waiting"][0].erase("time_ratio");
    EXPECT_THAT(fields_of(timed), UnorderedElementsAre("waiting[0].time_ratio"));
}

TEST(CorunQuestion, TheOrderInTheDocumentDoesNotMatter)
{
    Json other = question();
    for (const char* name : {"running", "runs"})
        std::reverse(other[name].begin(), other[name].end());
    const auto decided = [](const Json& json) {
        const CorunQuestion read = parse_corun_question(json).value();
        return to_json(decide_corun(read.state, read.pairs).value());
    };

    EXPECT_EQ(decided(question()), decided(other));
}

TEST(CorunQuestion, NothingAtAllIsAnIdleGpu)
{
    const Result<CorunQuestion> read = parse_corun_question(Json::object());

    ASSERT_TRUE(read) << describe(read.error());
    EXPECT_EQ(to_json(decide_corun(read->state, read->pairs).value(), *read)["launch"], nullptr);
}

TEST(CorunQuestion, NamesEveryFaultAtOnce)
{
    Json wrong = question();
    wrong["limit"] = 0;
    wrong["memory_decay"] = 0.5;
    wrong["running"][0]["ipc"] = 0;
    wrong["running"][0]["colour"] = "red";
    wrong["running"][1]["l2_miss_rate"] = "high";
    wrong["running"][1].erase("memory_bytes");
    wrong["waiting"][0]["class"] = "mixed";
    wrong["pairs"][0]["a_normalized_ipc"] = -1;
    wrong["runs"][0].erase("kernel");

    EXPECT_THAT(fields_of(wrong),
                testing::IsSupersetOf({"limit", "memory_decay", "running[0].ipc", "running[0].colour",
                                       "running[1].l2_miss_rate", "running[1].memory_bytes", "waiting[0].class",
                                       "pairs[0].a_normalized_ipc", "runs[0].kernel"}));
}

TEST(CorunQuestion, NamesWhatOnlyTheDecisionWouldRefuse)
{
    Json twice = question();
    twice["waiting"][0]["id"] = "a";
    Json full = question();
    full["limit"] = 1;

    EXPECT_THAT(fields_of(twice), UnorderedElementsAre("waiting[0].id"));
    EXPECT_THAT(fields_of(full), UnorderedElementsAre("running"));
}

TEST(CorunQuestion, InstructionsAreGivenOrPredicted)
{
    Json without = question();
    without["running"][0].erase("instructions");
    Json unlearned = question();
    unlearned.erase("runs");

    EXPECT_THAT(fields_of(without), UnorderedElementsAre("running[0].instructions"));
    EXPECT_THAT(fields_of(unlearned), UnorderedElementsAre("running[1].instructions"));
}

TEST(CorunQuestion, AMeasuredClassNeedsTheBalanceOfTheDevice)
{
    Json without = question();
    without.erase("device_balance");

    EXPECT_THAT(fields_of(without), UnorderedElementsAre("running[1].operations"));
}

} // namespace
} // namespace fathom
