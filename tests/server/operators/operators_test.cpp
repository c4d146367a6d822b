#include "probes/operators/manifests.hpp"
#include "server/operators/match_library.hpp"
#include "server/operators/operators_service.hpp"
#include "tests/server/centers/support/network_data.hpp"
#include "tests/support/test_io.hpp"

#include <gmock/gmock.h>

namespace fathom::server {
namespace {

using test::simple_operator;
using test::TestStore;
using testing::HasSubstr;

OperatorUse use_of(const std::string& id, std::int64_t version, Parameters parameters)
{
    OperatorUse use;
    use.id = id;
    use.version = version;
    use.parameters = std::move(parameters);
    return use;
}

TEST(OperatorLibrary, ResolvesVersionsAndDefaults)
{
    OperatorManifest second = simple_operator("op1");
    second.version = 2;
    const OperatorLibrary library({{simple_operator("op1"), {}, {}}, {second, {}, {}}});
    std::vector<FieldError> errors;

    const auto newest = library.resolve({use_of("op1", 0, {})}, "operators", errors);
    const auto older = library.resolve({use_of("op1", 1, {{"n", 20}})}, "operators", errors);

    EXPECT_TRUE(errors.empty());
    EXPECT_EQ(newest[0].version, 2);
    EXPECT_EQ(newest[0].parameters, (Parameters{{"n", 10}}));
    EXPECT_EQ(older[0].version, 1);
    EXPECT_EQ(older[0].parameters, (Parameters{{"n", 20}}));
}

TEST(OperatorLibrary, ReportsEveryUnknownThing)
{
    const OperatorLibrary library({{simple_operator("op1"), {}, {}}});
    std::vector<FieldError> errors;

    library.resolve(
        {use_of("nothing", 0, {}), use_of("op1", 7, {}), use_of("op1", 0, {{"n", 5000}}), use_of("op1", 0, {{"k", 1}})},
        "operators", errors);

    ASSERT_EQ(errors.size(), 4U);
    EXPECT_EQ(errors[0].field, "operators[0].id");
    EXPECT_EQ(errors[1].field, "operators[1].version");
    EXPECT_EQ(errors[2].field, "operators[2].parameters.n");
    EXPECT_EQ(errors[3].field, "operators[3].parameters.k");
}

TEST(OperatorLibrary, RefusesWithdrawnVersions)
{
    OperatorManifest second = simple_operator("op1");
    second.version = 2;
    const OperatorLibrary library({{simple_operator("op1"), {}, {}}, {second, {}, Timestamp{}}});
    const OperatorLibrary nothing_left({{simple_operator("op1"), {}, Timestamp{}}});
    std::vector<FieldError> errors;

    const auto newest = library.resolve({use_of("op1", 0, {})}, "operators", errors);
    ASSERT_TRUE(errors.empty());
    library.resolve({use_of("op1", 2, {})}, "operators", errors);
    nothing_left.resolve({use_of("op1", 0, {})}, "operators", errors);

    EXPECT_EQ(newest[0].version, 1) << "the newest that is not withdrawn";
    ASSERT_EQ(errors.size(), 2U);
    EXPECT_EQ(errors[0].field, "operators[0].version");
    EXPECT_EQ(errors[1].field, "operators[0].id");
    EXPECT_THAT(errors[1].detail, HasSubstr("withdrawn"));
}

TEST(MatchLibrary, HasTheNewestOfEachOperatorWithoutWhatOnlyPeopleRead)
{
    OperatorManifest second = simple_operator("op1");
    second.version = 2;
    second.signature.symbols = {"dgesv_"};
    second.cache_rule =
        CacheRule{.array_bytes = "8*n", .memory_bytes = "24*n", .least_multiple = 4, .larger_sizes = {}};
    const OperatorLibrary library({{simple_operator("op1"), {}, {}},
                                   {second, {}, {}},
                                   {simple_operator("op2"), {}, Timestamp{}},
                                   {simple_operator("op3"), {}, {}}});

    const MatchLibraryPart made = make_match_library(library);

    EXPECT_EQ(made.left_out, 0);
    ASSERT_EQ(made.library.operators.size(), 2U) << "op2 is withdrawn";
    const OperatorManifest read = parse_operator_manifest(made.library.operators[0]).value();
    EXPECT_EQ(read.id, "op1");
    EXPECT_EQ(read.version, 2);
    EXPECT_EQ(read.signature.symbols, second.signature.symbols);
    EXPECT_EQ(read.operation_count, second.operation_count);
    EXPECT_EQ(read.parameters[0].max, 1000);
    EXPECT_EQ(read.parameters[0].description, "");
    EXPECT_FALSE(read.cache_rule) << "agents of older releases refuse a field that they do not know";
    EXPECT_EQ(made.library.operators.dump().find("an operator of a test"), std::string::npos);
    EXPECT_EQ(make_match_library(library).library.digest, made.library.digest);
    EXPECT_NE(make_match_library(OperatorLibrary({{second, {}, {}}})).library.digest, made.library.digest);
}

TEST(MatchLibrary, LeavesOutWhatItHasNoRoomFor)
{
    std::vector<OperatorLibrary::Version> large;
    for (int i = 0; i < 100; ++i) {
        OperatorManifest manifest = simple_operator("op" + std::to_string(i));
        manifest.signature.symbols.assign(200, std::string(128, 'x'));
        large.push_back({manifest, {}, {}});
    }
    const MatchLibraryPart made = make_match_library(OperatorLibrary(large));
    EXPECT_LE(made.library.operators.dump().size(), link::kMaxLibraryBytes);
    EXPECT_GT(made.library.operators.size(), 10U);
    EXPECT_EQ(std::ssize(made.library.operators) + made.left_out, 100);

    std::vector<OperatorLibrary::Version> many;
    for (std::size_t i = 0; i < link::kMaxLibraryOperators + 5; ++i)
        many.push_back({simple_operator("op" + std::to_string(i)), {}, {}});
    const MatchLibraryPart most = make_match_library(OperatorLibrary(many));
    EXPECT_EQ(most.library.operators.size(), link::kMaxLibraryOperators);
    EXPECT_EQ(most.left_out, 5);
}

TEST(OperatorsService, TellsWhenWhatJobsAreMatchedWithHasChanged)
{
    TestStore store;
    OperatorsService service(store.database());
    int told = 0;
    service.on_match_library = [&told] { ++told; };
    ASSERT_TRUE(service.seed({simple_operator("op1")}));
    EXPECT_EQ(told, 1);
    ASSERT_TRUE(service.seed({simple_operator("op1")}));
    EXPECT_EQ(told, 1);
    OperatorManifest changed = simple_operator("op1");
    changed.signature.symbols = {"dgesv_"};

    ASSERT_TRUE(service.seed({changed}));

    EXPECT_EQ(told, 2);
    EXPECT_EQ(service.match_library()->operators[0]["signature"]["symbols"][0], "dgesv_");
}

TEST(OperatorsService, SeedsTheShippedManifestsOnce)
{
    TestStore store;
    OperatorsService service(store.database());

    ASSERT_TRUE(service.seed(probes::operator_manifests()));
    ASSERT_TRUE(service.seed(probes::operator_manifests()));

    EXPECT_EQ(store.sql("SELECT count(*) FROM operator"), std::to_string(probes::operator_manifests().size()));
    EXPECT_NE(service.library()->find("dgemm"), nullptr);
}

TEST(OperatorsService, AChangedManifestBecomesTheNextVersion)
{
    TestStore store;
    OperatorsService service(store.database());
    ASSERT_TRUE(service.seed({simple_operator("op1"), simple_operator("op2")}));
    OperatorManifest changed = simple_operator("op1");
    changed.description = "better told";

    ASSERT_TRUE(service.seed({changed})); // and op2 is not shipped any more

    EXPECT_EQ(service.library()->find("op1")->manifest.version, 2);
    EXPECT_EQ(service.library()->find("op1", 1)->manifest.description, "an operator of a test");
    EXPECT_NE(service.library()->find("op2"), nullptr) << "nothing is ever removed";
    fathom::test::TestIo io;
    EXPECT_EQ(io.run(service.get("op1", 0)).value().manifest.version, 2);
    EXPECT_EQ(io.run(service.get("op1", 3)).error().code, Errc::kNotFound);
    const Page<OperatorRecord> page = io.run(service.list(1, "")).value();
    EXPECT_EQ(page.items[0].manifest.version, 2);
    EXPECT_EQ(page.next_after, "op1");
    store.database().stop();
}

} // namespace
} // namespace fathom::server
