#include "core/decide/routing/decision_json.hpp"
#include "core/decide/routing/replay.hpp"
#include "core/decide/routing/route_json.hpp"
#include "tests/core/decide/routing/random_network.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace fathom {
namespace {

constexpr std::uint64_t kNetworks = 400;

/// As the database gives it back.
Json stored(const Json& json)
{
    return *parse_json(json.dump());
}

Json placement_of(const test::RandomNetwork& network, const Decision& decision)
{
    return {{"decision", to_json(decision, "EUR")},
            {"inputs", route_inputs_json(network.request, network.unit_types, network.knowledge, decision)}};
}

/// Names its fields as the version before did. @return how many
std::size_t give_former_names(std::string& text)
{
    constexpr std::pair<std::string_view, std::string_view> kNames[] = {
        {R"("similarity":)", R"("likeness":)"},
        {R"("raw_share":)", R"("promise_share":)"},
        {R"("max_units":)", R"("most_units":)"},
        {R"("max_score_hours":)", R"("most_score_hours":)"},
        {R"("max_cost":)", R"("most_cost":)"}};
    std::size_t count = 0;
    for (const auto& [name, former] : kNames) {
        for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at), ++count)
            text.replace(at, name.size(), former);
    }
    return count;
}

TEST(RouteInputs, MakeTheSameDecisionAgain)
{
    std::size_t won = 0; // of the networks, or nothing was shown
    for (std::uint64_t seed = 0; seed < kNetworks; ++seed) {
        const test::RandomNetwork network = test::NetworkMaker(seed).make();
        const Decision decision = route(network.request, network.unit_types, network.knowledge);

        const Result<Replay> replay = replay_placement(stored(placement_of(network, decision)));

        ASSERT_TRUE(replay) << seed << ": " << describe(replay.error());
        EXPECT_TRUE(replay->differences.empty()) << seed << ": " << replay->differences.front();
        won += decision.winner ? 1 : 0;
    }
    EXPECT_GT(won, kNetworks / 2);
    EXPECT_LT(won, kNetworks);
}

TEST(RouteInputs, AreThemselvesAgainWhenReadAndWritten)
{
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const test::RandomNetwork network = test::NetworkMaker(seed).make();
        const Decision decision = route(network.request, network.unit_types, network.knowledge);
        const Json once = stored(route_inputs_json(network.request, network.unit_types, network.knowledge, decision));

        const Result<RouteInputs> read = parse_route_inputs(once);

        ASSERT_TRUE(read) << seed << ": " << describe(read.error());
        const Decision again = route(read->request, read->unit_types, read->knowledge);
        EXPECT_EQ(stored(route_inputs_json(read->request, read->unit_types, read->knowledge, again))["request"],
                  once["request"]);
    }
}

/// Made, and as it is kept then.
void expect_same_as_text(const test::RandomNetwork& network, InputTexts& texts)
{
    const Decision decision = route(network.request, network.unit_types, network.knowledge);
    const Json inputs = route_inputs_json(network.request, network.unit_types, network.knowledge, decision);

    const std::string text = route_inputs_text(network.request, network.unit_types, network.knowledge, decision, texts);

    EXPECT_EQ(*parse_json(text), stored(inputs));
    EXPECT_EQ(text.size(), inputs.dump().size()) << "no member is there twice";
    EXPECT_EQ(route_inputs_text(network.request, network.unit_types, network.knowledge, decision, texts), text);
}

TEST(RouteInputs, SayTheSameAsText)
{
    InputTexts texts;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        test::RandomNetwork network = test::NetworkMaker(seed).make();
        expect_same_as_text(network, texts);
        // With operators left out: of the lists that are shared it reads less.
        if (network.request.operators.size() > 1) network.request.operators.pop_back();
        expect_same_as_text(network, texts);
        network.request.operators.clear();
        expect_same_as_text(network, texts);
    }
}

TEST(RouteInputs, SayTheSameAsTextOfWhatAKnownRunIsMadeOf)
{
    InputTexts texts;
    test::RandomNetwork network = test::NetworkMaker(1).make();
    network.request.operators = {{"dgemm", "n=64", 10, 1e6, 1e5}};
    expect_same_as_text(network, texts);
    KnownRun known;
    known.job_id = "job_1";
    known.unit_type = network.unit_types.front().id.value;
    known.run_s = 100;
    known.measured = network.unit_types.front().measured;
    known.operators = {{"fft3d", "n=64", 10, 1e6, 1e5}};
    known.operators[0].share = 1;
    network.request.known_run = std::make_shared<const KnownRun>(known);

    expect_same_as_text(network, texts);
}

TEST(RouteInputs, SayTheSameAsTextWhateverThingsAreCalled)
{
    InputTexts texts;
    test::RandomNetwork network = test::NetworkMaker(1).make();
    for (UnitTypeView& view : network.unit_types) {
        view.name = "kern \"\\\n\u00e9";
        for (MeasuredOperator& one : view.measured.own())
            one.probe_run_id = "prn \"\\\t\u6d4b";
    }
    const auto demand = [](const char* id) { return OperatorDemand{id, "n=64", 10, 1e6, 1e5}; };
    network.request.operators = {demand("dgemm\nfft3d")};
    expect_same_as_text(network, texts);
    network.request.operators = {demand("5:dgemm5:fft3d")};
    expect_same_as_text(network, texts);
    network.request.operators = {demand("dgemm"), demand("fft3d")};
    expect_same_as_text(network, texts);
}

TEST(RouteInputs, SayTheSameAsTextOfUnitTypesOfWhichNothingIsKnown)
{
    InputTexts texts;
    test::RandomNetwork network = test::NetworkMaker(1).make();
    for (UnitTypeView& view : network.unit_types) {
        view.measured.clear();
        view.one_core.clear();
        view.speedups = nullptr;
        view.loads = nullptr;
        view.network = nullptr;
        view.price = nullptr;
    }
    network.knowledge = {};

    expect_same_as_text(network, texts);

    EXPECT_EQ(texts.size_bytes(), 0U) << "nothing is kept of nothing";
}

TEST(RouteInputs, SayTheSameAsTextOfDataThatIsMovedAndOfSingleCores)
{
    InputTexts texts;
    test::RandomNetwork network = test::NetworkMaker(1).make();
    network.request.operators = {{"dgemm", "n=64", 10, 1e6, 1e5}};
    for (UnitTypeView& view : network.unit_types) {
        view.cores_per_unit = 4;
        view.one_core = view.measured; // one list, of which each member tells something else
    }
    for (const double in_bytes : {0.0, 1e9}) {
        network.request.transfer.in_bytes = in_bytes;
        expect_same_as_text(network, texts);
    }
}

TEST(WithCurrentNames, RenamesWhatTheVersionBeforeNamedOtherwise)
{
    const Json kept = Json::parse(R"({"winner": 0, "turn": "no. 1 of 2", "candidates": [
        {"center": "a", "correction": {"promised_s": 3, "promised_low_s": 2, "promised_high_s": 4, "factor": 1}},
        {"center": "b", "correction": null}, 7]})");

    EXPECT_EQ(with_current_names(kept), Json::parse(R"({"winner": 0, "rank_text": "no. 1 of 2", "candidates": [
        {"center": "a", "correction": {"raw_prediction_s": 3, "raw_prediction_low_s": 2, "raw_prediction_high_s": 4,
                                       "factor": 1}},
        {"center": "b", "correction": null}, 7]})"));
    EXPECT_EQ(with_current_names(with_current_names(kept)), with_current_names(kept));
    EXPECT_EQ(with_current_names(nullptr), Json());
}

TEST(RouteInputs, AreReadAsTheVersionBeforeWroteThem)
{
    test::RandomNetwork network = test::NetworkMaker(1).make();
    KnownRun known;
    known.job_id = "job_1";
    known.run_s = 10;
    known.operators.emplace_back().share = 0.5;
    known.operators.front().similarity = 0.25;
    network.request.known_run = std::make_shared<const KnownRun>(known);
    network.request.takes_operators = true;
    network.request.quota = {.max_units = 8, .max_score_hours = 0.5, .max_cost = 50};
    const Decision decision = route(network.request, network.unit_types, network.knowledge);
    std::string text = route_inputs_json(network.request, network.unit_types, network.knowledge, decision).dump();
    EXPECT_GT(give_former_names(text), 0U);

    const Result<RouteInputs> read = parse_route_inputs(*parse_json(text));

    ASSERT_TRUE(read) << describe(read.error());
    EXPECT_EQ(read->request.quota.max_units, 8);
    EXPECT_EQ(read->request.quota.max_score_hours, 0.5);
    EXPECT_EQ(read->request.quota.max_cost, 50);
    ASSERT_TRUE(read->request.known_run);
    ASSERT_EQ(read->request.known_run->operators.size(), 1U);
    EXPECT_EQ(read->request.known_run->operators.front().similarity, 0.25);
}

TEST(RouteInputs, KeepWhichCentersHaveRefusedTheJobAndKeepItsData)
{
    test::RandomNetwork network = test::NetworkMaker(1).make();
    const std::string center = network.unit_types.front().center_id.value;
    network.request.refused_by = {center};
    network.request.kept_in_bytes = {{center, 5}};
    network.request.staged_in_bytes = 6;
    const Decision decision = route(network.request, network.unit_types, network.knowledge);
    const Json inputs = stored(route_inputs_json(network.request, network.unit_types, network.knowledge, decision));

    const Result<RouteInputs> read = parse_route_inputs(inputs);

    ASSERT_TRUE(read) << describe(read.error());
    EXPECT_EQ(read->request.refused_by, std::vector<std::string>{center});
    EXPECT_EQ(read->request.kept_in_bytes, network.request.kept_in_bytes);
    EXPECT_EQ(read->request.staged_in_bytes, 6);
}

TEST(RouteInputs, KeepWhatTheJobIsExpectedToKeepBesideOthersOnItsGpu)
{
    test::RandomNetwork network = test::NetworkMaker(1).make();
    network.request.gpu_shares = {
        {network.unit_types.front().id.value,
         {.share = 0.5, .spread = 0.1, .until_s = 60, .neighbours = 2, .basis = PairSource::kCompleted}}};
    const Decision decision = route(network.request, network.unit_types, network.knowledge);
    Json inputs = stored(route_inputs_json(network.request, network.unit_types, network.knowledge, decision));

    const Result<RouteInputs> read = parse_route_inputs(inputs);

    ASSERT_TRUE(read) << describe(read.error());
    EXPECT_EQ(read->request.gpu_shares, network.request.gpu_shares);
    inputs["request"]["gpu_shares"].begin().value()["share"] = 0;
    EXPECT_FALSE(parse_route_inputs(inputs)) << "it would take for ever";
}

TEST(RouteInputs, KeepWhatEarlierRunsHadOfAGpusMemory)
{
    test::RandomNetwork network = test::NetworkMaker(1).make();
    network.request.learned_gpu_memory = {5'000'000'000, 1'000'000};
    const Decision decision = route(network.request, network.unit_types, network.knowledge);
    Json inputs = stored(route_inputs_json(network.request, network.unit_types, network.knowledge, decision));

    const Result<RouteInputs> read = parse_route_inputs(inputs);

    ASSERT_TRUE(read) << describe(read.error());
    EXPECT_EQ(read->request.learned_gpu_memory.persistent_bytes, 5'000'000'000);
    EXPECT_EQ(read->request.learned_gpu_memory.temporary_bytes, 1'000'000);
    inputs["request"]["learned_gpu_memory"]["persistent_bytes"] = -1;
    EXPECT_FALSE(parse_route_inputs(inputs));
}

TEST(RouteInputs, KeepWhatJobsThatWerePlacedAreExpectedToHaveOfGpus)
{
    test::RandomNetwork network = test::NetworkMaker(1).make();
    UnitTypeView& view = network.unit_types.front();
    view.gpu_rooms = {{32, 8, 2, 1}, {64, 0, 0, 1}};
    view.expected_gpu_rooms = {{32, 8, 2, 1}, {64, 20, 4, 1}};
    const Decision decision = route(network.request, network.unit_types, network.knowledge);
    const Json inputs = stored(route_inputs_json(network.request, network.unit_types, network.knowledge, decision));

    const Result<RouteInputs> read = parse_route_inputs(inputs);

    ASSERT_TRUE(read) << describe(read.error());
    const auto kept = std::find_if(read->unit_types.begin(), read->unit_types.end(),
                                   [&](const UnitTypeView& one) { return one.id == view.id; });
    ASSERT_NE(kept, read->unit_types.end());
    EXPECT_EQ(kept->gpu_rooms, view.gpu_rooms);
    EXPECT_EQ(kept->expected_gpu_rooms, view.expected_gpu_rooms);
}

TEST(RouteInputs, KeepAFewTellingPlacesOfMany)
{
    test::RandomNetwork network = test::NetworkMaker(1).make();
    const UnitTypeView first = network.unit_types.front();
    network.unit_types.clear();
    for (int i = 0; i < 200; ++i) {
        UnitTypeView view = first;
        view.id.value = "ut_" + std::to_string(1000 + i);
        view.closed_reason.clear();
        for (MeasuredOperator& one : view.measured.own())
            one.median_s *= 1 + 0.1 * i;
        network.unit_types.push_back(view);
    }
    network.request.budget.reset();
    network.request.transfer.deadline.reset();
    network.request.units.count = 1;
    const Decision decision = route(network.request, network.unit_types);
    ASSERT_TRUE(decision.winner);

    const Json placement = placement_of({network.unit_types, {}, network.request}, decision);

    EXPECT_EQ(placement["inputs"]["unit_types"].size(), kMaxInputsKept);
    const Result<Replay> replay = replay_placement(stored(placement));
    ASSERT_TRUE(replay) << describe(replay.error());
    EXPECT_TRUE(replay->differences.empty()) << replay->differences.front();
}

TEST(RouteInputs, SayWhatIsDifferent)
{
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const test::RandomNetwork network = test::NetworkMaker(seed).make();
        const Decision decision = route(network.request, network.unit_types, network.knowledge);
        if (!decision.winner) continue;
        Json placement = placement_of(network, decision);
        placement["decision"]["candidates"][*decision.winner]["start_s"] = 12345.5;

        const Result<Replay> replay = replay_placement(stored(placement));

        ASSERT_TRUE(replay);
        ASSERT_EQ(replay->differences.size(), 1U);
        EXPECT_TRUE(replay->differences[0].starts_with("start_s: 12345.5 was stored, ")) << replay->differences[0];
    }
}

TEST(RouteInputs, AreComparedAtThePlaceWhereTheOrderOfTheJobsPutIt)
{
    std::size_t shown = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const test::RandomNetwork network = test::NetworkMaker(seed).make();
        Decision decision = route(network.request, network.unit_types, network.knowledge);
        if (!decision.winner || decision.candidates.size() < 2 || !decision.candidates[1].feasible) continue;
        decision.rank_text = "no. 2 of 3";
        decision.winner = 1;

        const Result<Replay> replay = replay_placement(stored(placement_of(network, decision)));

        ASSERT_TRUE(replay);
        EXPECT_TRUE(replay->differences.empty()) << replay->differences.front();
        EXPECT_NE(replay->note.find("no. 2 of 3"), std::string::npos);
        ++shown;
    }
    EXPECT_GT(shown, 3U);
}

TEST(RouteInputs, AreReadStrictlyAndEveryFaultIsSaid)
{
    test::RandomNetwork network = test::NetworkMaker(3).make();
    const Decision decision = route(network.request, network.unit_types, network.knowledge);
    const Json good = stored(route_inputs_json(network.request, network.unit_types, network.knowledge, decision));
    Json bad = good;
    bad["request"]["now"] = "yesterday";
    bad["unit_types"][0]["trust_factor"] = 2;
    bad["unit_types"][0]["availability"] = {{5, 1}, {"x", 1}};
    bad["unit_types"][0]["price"] = {{"per_unit_hour_micros", {1, 2, 3}}, {"unit_power_w", 0}};
    bad["surplus"] = 1;

    const Result<RouteInputs> read = parse_route_inputs(bad);

    ASSERT_FALSE(read);
    std::vector<std::string> fields;
    for (const FieldError& field : read.error().fields)
        fields.push_back(field.field);
    EXPECT_EQ(fields, (std::vector<std::string>{"request.now", "unit_types[0].trust_factor",
                                                "unit_types[0].availability[0]", "unit_types[0].availability[1]",
                                                "unit_types[0].price.per_unit_hour_micros", "surplus"}));
    for (const Json& odd : {Json(), Json(3), Json::array(), Json::object(), Json{{"request", 1}, {"unit_types", 2}}})
        EXPECT_FALSE(parse_route_inputs(odd));
}

} // namespace
} // namespace fathom
