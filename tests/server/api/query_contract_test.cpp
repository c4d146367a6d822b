#include "core/base/yaml.hpp"
#include "server/api/query_contract.hpp"

namespace fathom::server {
namespace {

/// The fields that are wrong with what they are told, "name: text" each, by the contract of this build.
std::vector<std::string> faults_of(const std::string& path, const Query& query)
{
    const Result<QueryContract>& contract = query_contract();
    EXPECT_TRUE(contract) << describe(contract.error());
    const QueryRules* const rules = contract->find(net::Method::kGet, "/api/v1" + path);
    if (rules == nullptr) return {"no such route"};
    std::vector<std::string> faults;
    if (const Result<void> checked = rules->check(query); !checked) {
        const Error error = checked.error();
        EXPECT_EQ(error.code, Errc::kInvalid);
        for (const FieldError& field : error.fields)
            faults.push_back(field.field + ": " + field.detail);
    }
    return faults;
}

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(QueryContract, TakesWhatIsDeclared)
{
    EXPECT_THAT(faults_of("/jobs", {{"page_size", "1000"}, {"state", "queued"}, {"project", "physics"}}), IsEmpty());
    EXPECT_THAT(faults_of("/jobs", {{"state", ""}, {"project", ""}}), IsEmpty()) << "as if they were not given";
    EXPECT_THAT(faults_of("/reservations", {{"open", "true"}}), IsEmpty());
    EXPECT_THAT(faults_of("/network-windows", {{"size_bytes", "1.5e9"}, {"latest_start", "2026-12-01T00:00:00Z"}}),
                IsEmpty());
}

TEST(QueryContract, NamesEveryWrongParameter)
{
    EXPECT_THAT(
        faults_of("/jobs", {{"colour", "red"}, {"page_size", "0"}, {"label", "jobs"}}),
        ElementsAre("colour: is not a query parameter of this request; there are center, label, name, page_size, "
                    "page_token, project, sort, state and 5 more",
                    "label: must be job, probe or all", "page_size: must be a whole number between 1 and 1000"));
    EXPECT_THAT(faults_of("/jobs", {{"projet", "physics"}}),
                ElementsAre("projet: is not a query parameter of this request; did you mean project?"));
    EXPECT_THAT(faults_of("/jobs/{id}", {{"page_size", "3"}}),
                ElementsAre("page_size: is not a query parameter of this request, which has none"));
    EXPECT_THAT(faults_of("/statements", {}), ElementsAre("period: is required"));
}

TEST(QueryContract, BoundsValues)
{
    for (const char* const wrong : {"1001", "-1", "1.5", "", "x", "99999999999999999999", " 5", "5 "})
        EXPECT_THAT(faults_of("/jobs", {{"page_size", wrong}}), ::testing::SizeIs(1)) << wrong;
    EXPECT_THAT(faults_of("/operators/{id}", {{"version", "0"}}),
                ElementsAre("version: must be a whole number of at least 1"));
    EXPECT_THAT(faults_of("/network-windows", {{"size_bytes", "0"}}),
                ElementsAre("size_bytes: must be a number above 0"));
    EXPECT_THAT(faults_of("/network-windows", {{"size_bytes", "inf"}}), ::testing::SizeIs(1));
    EXPECT_THAT(faults_of("/network-windows", {{"latest_start", "tomorrow"}}), ::testing::SizeIs(1));
    EXPECT_THAT(faults_of("/reservations", {{"open", "yes"}}), ElementsAre("open: must be true or false"));
    EXPECT_THAT(faults_of("/audit-log", {{"actor", ""}}), ElementsAre("actor: must have 1 to 200 bytes"));
    EXPECT_THAT(faults_of("/jobs", {{"project", std::string("a\0b", 3)}}),
                ElementsAre("project: must not contain a NUL character"));
}

TEST(QueryContract, AReferenceThatLeadsNowhereIsAFault)
{
    const Result<Json> document = parse_yaml("paths: {/a: {get: {parameters: [{$ref: '#/components/parameters/B'}]}}}");
    ASSERT_TRUE(document);
    EXPECT_FALSE(QueryContract::read(*document));
}

} // namespace
} // namespace fathom::server
