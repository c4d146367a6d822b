#include "core/base/file.hpp"
#include "core/model/operator_package.hpp"
#include "tests/cli/client/fake_server.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>

namespace fathom::cli::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// The least that says "shared object for x86_64".
std::string tiny_object()
{
    std::string object("\177ELF\2\1\1", 7);
    object.append(9, '\0');
    object += std::string("\3\0\x3e\0", 4);
    object.append(44, '\0');
    return object;
}

Json manifest(const std::string& library)
{
    return {{"id", "lu"},
            {"category", "hpc"},
            {"description", "a factorization"},
            {"parameters", {{{"name", "n"}, {"min", 1}, {"max", 1000}, {"default", 10}}}},
            {"operation_count", "2*n^3/3"},
            {"byte_count", "8*n^2"},
            {"truth", "the product of the factors"},
            {"tolerance", 1e-9},
            {"precision", "fp64"},
            {"implementations", {{{"resource_type", "cpu"}, {"library", library}}}}};
}

/// As the server shows it.
Json shown(const Json& document, std::int64_t version)
{
    Json json = to_json(parse_operator_manifest(document).value());
    json["version"] = version;
    json.update({{"origin", "built_in"},
                 {"created_at", "2026-11-20T11:04:14Z"},
                 {"created_by", "fathom"},
                 {"withdrawn_at", nullptr},
                 {"withdrawn_by", nullptr},
                 {"key_id", nullptr},
                 {"object_sha256", nullptr},
                 {"object_bytes", nullptr}});
    return json;
}

/// A folder with a key pair, an object, and a manifest without a version.
class OperatorCommands : public testing::Test {
  protected:
    OperatorCommands()
    {
        std::string name = (std::filesystem::temp_directory_path() / "fathom-cli-XXXXXX").string();
        folder = mkdtemp(name.data());
        write("lu.so", tiny_object());
        write("lu.json", manifest("uploaded").dump());
    }
    ~OperatorCommands() override { std::filesystem::remove_all(folder); }

    std::string path(const std::string& name) const { return (folder / name).string(); }
    void write(const std::string& name, const std::string& content) const
    {
        write_file(folder / name, content).value();
    }
    void make_key() const
    {
        ASSERT_EQ(fathom({"operator", "key", "create", "--output-file", path("ada.key")}).code, 0);
    }
    std::vector<std::string> sign_arguments() const
    {
        return {"operator", "sign",          "--manifest", path("lu.json"),     "--object", path("lu.so"),
                "--key",    path("ada.key"), "-o",         path("package.json")};
    }

    std::filesystem::path folder;
};

TEST_F(OperatorCommands, CreateAKeyThatOnlyItsOwnerReads)
{
    const Ran made = fathom({"operator", "key", "create", "--output-file", path("ada.key")});

    EXPECT_EQ(made.code, 0) << made.err;
    const auto mode = std::filesystem::status(path("ada.key")).permissions();
    EXPECT_EQ(mode, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    const PublicKey key = parse_public_keys(read_file(path("ada.key.pub")).value()).value().front();
    EXPECT_EQ(public_key_of(read_file(path("ada.key")).value()).value(), key);
    EXPECT_THAT(made.out, AllOf(HasSubstr(key_id(key)), HasSubstr("operator key add")));

    const Ran again = fathom({"operator", "key", "create", "--output-file", path("ada.key")});
    EXPECT_EQ(again.code, 2);
    EXPECT_THAT(again.err, HasSubstr("is there already"));
    EXPECT_EQ(parse_public_keys(read_file(path("ada.key.pub")).value()).value().front(), key);
}

TEST_F(OperatorCommands, SignWithoutAServer)
{
    make_key();
    const Ran refused = fathom(sign_arguments());
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.err, AllOf(HasSubstr("names no version"), HasSubstr("FATHOM_URL")));
    Json document = manifest("uploaded");
    document["version"] = 4;
    write("lu.json", document.dump());

    const Ran ran = fathom(sign_arguments());

    EXPECT_EQ(ran.code, 0) << ran.err;
    const OperatorPackage package = parse_operator_package_text(read_file(path("package.json")).value()).value();
    EXPECT_EQ(package.manifest.version, 4);
    EXPECT_EQ(package.object, tiny_object());
    EXPECT_TRUE(verify_operator_package(package, parse_public_keys(read_file(path("ada.key.pub")).value()).value()));
}

TEST_F(OperatorCommands, SignAsTheServersNextVersion)
{
    make_key();
    const Json page{{"items", {shown(manifest("own"), 6)}}, {"next_page_token", nullptr}};
    const FakeServer server(
        {{"GET /api/v1/operators/lu/versions", {answer(200, page.dump()), refusal(Errc::kNotFound, "x")}}});

    ASSERT_EQ(fathom(server, sign_arguments()).code, 0);
    EXPECT_EQ(parse_operator_package_text(read_file(path("package.json")).value()).value().manifest.version, 7);
    ASSERT_EQ(fathom(server, sign_arguments()).code, 0);
    EXPECT_EQ(parse_operator_package_text(read_file(path("package.json")).value()).value().manifest.version, 1);
}

TEST_F(OperatorCommands, SignNamesWhatIsWrong)
{
    make_key();
    write("lu.so", "no object");
    Json document = manifest("uploaded");
    document["version"] = 1;
    write("lu.json", document.dump());
    EXPECT_THAT(fathom(sign_arguments()).err, HasSubstr("not an ELF file"));
    write("lu.so", tiny_object());
    write("lu.json", manifest("own").dump());
    EXPECT_EQ(fathom(sign_arguments()).code, 2);
    document["tolerance"] = 7;
    document["surplus"] = 1;
    write("lu.json", document.dump());
    EXPECT_THAT(fathom(sign_arguments()).err, AllOf(HasSubstr("tolerance"), HasSubstr("surplus")));
    EXPECT_FALSE(std::filesystem::exists(path("package.json")));
}

TEST_F(OperatorCommands, UploadSaysWhatWillHappen)
{
    make_key();
    const FakeServer server({{"GET /api/v1/operators/lu/versions", {refusal(Errc::kNotFound, "x")}},
                             {"POST /api/v1/operators", {answer(201, shown(manifest("own"), 1).dump())}}});
    ASSERT_EQ(fathom(server, sign_arguments()).code, 0);

    const Ran looked = fathom(server, {"operator", "upload", path("package.json"), "--dry-run"});
    EXPECT_THAT(looked.err, AllOf(HasSubstr("lu version 1, new"), HasSubstr("no network"), HasSubstr("x86_64"),
                                  HasSubstr("1.00 GiB"), HasSubstr("Nothing was uploaded")));
    EXPECT_EQ(server.requests().back().method, net::Method::kGet);
    const Ran ran = fathom(server, {"operator", "upload", path("package.json")});

    EXPECT_EQ(ran.code, 0) << ran.err;
    const net::Request sent = server.requests().back();
    EXPECT_EQ(parse_json(sent.body).value()["package"], parse_json(read_file(path("package.json")).value()).value());
    EXPECT_FALSE(sent.header("Idempotency-Key").empty());
    write("package.json", R"({"manifest": {}, "object_base64": "?"})");
    EXPECT_EQ(fathom(server, {"operator", "upload", path("package.json")}).code, 2) << "checked before it is sent";
}

TEST_F(OperatorCommands, ChangeSendsBackWhatShowPrinted)
{
    const Json before = shown(manifest("own"), 3);
    const FakeServer server({{"GET /api/v1/operators/lu", {answer(200, before.dump())}},
                             {"PUT /api/v1/operators/lu", {answer(200, shown(manifest("own"), 4).dump())}}});
    Json edited = parse_json(fathom(server, {"operator", "show", "lu", "--output", "json"}).out).value();
    edited["description"] = "told better";
    write("edited.json", edited.dump());

    const Ran ran = fathom(server, {"operator", "change", path("edited.json")});

    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("lu version 3 gets a next version with another description."));
    const net::Request sent = server.requests().back();
    EXPECT_EQ(sent.method, net::Method::kPut);
    EXPECT_EQ(sent.header("If-Match"), "\"3\"");
    const Json body = parse_json(sent.body).value();
    EXPECT_EQ(body["manifest"]["description"], "told better");
    EXPECT_FALSE(body["manifest"].contains("created_at"));
}

TEST_F(OperatorCommands, APrivateKeyIsNeverSent)
{
    make_key();
    const FakeServer server({});

    const Ran ran = fathom(server, {"operator", "key", "add", "--name", "ada", path("ada.key")});

    EXPECT_EQ(ran.code, 2);
    EXPECT_THAT(ran.err, HasSubstr("private key"));
    EXPECT_TRUE(server.requests().empty());
}

/// A review as the server shows it.
Json review(const std::string& state)
{
    return {{"id", "orv_1"},
            {"operator", "lu"},
            {"version", 1},
            {"center", "alpha"},
            {"key_id", "0123456789abcdef"},
            {"manifest", {{"sandbox", {{"network", true}, {"memory_bytes", 1024}}}}},
            {"object_sha256", std::string(64, 'a')},
            {"object_bytes", 64},
            {"state", state},
            {"submitted_at", "2026-11-20T11:04:14Z"},
            {"submitted_by", "tok_dana"},
            {"decided_at", nullptr},
            {"decided_by", nullptr},
            {"reason", nullptr}};
}

TEST_F(OperatorCommands, SubmitForReviewAndDecide)
{
    make_key();
    const Json page{{"items", {review("awaiting_review")}}, {"next_page_token", nullptr}};
    const FakeServer server({{"GET /api/v1/operators/lu/versions", {refusal(Errc::kNotFound, "x")}},
                             {"POST /api/v1/operator-reviews", {answer(201, review("awaiting_review").dump())}},
                             {"GET /api/v1/operator-reviews", {answer(200, page.dump())}},
                             {"GET /api/v1/operator-reviews/orv_1/package", {answer(200, R"({"key_id": "k"})")}},
                             {"POST /api/v1/operator-reviews/orv_1:approve", {answer(200, review("approved").dump())}},
                             {"POST /api/v1/operator-reviews/orv_1:reject", {answer(200, review("rejected").dump())}}});
    ASSERT_EQ(fathom(server, sign_arguments()).code, 0);

    const Ran submitted = fathom(server, {"operator", "submit", path("package.json")});
    EXPECT_EQ(submitted.code, 0) << submitted.err;
    EXPECT_THAT(submitted.out, HasSubstr("fathom operator review approve orv_1"));
    const Ran listed = fathom(server, {"operator", "review", "list", "--state", "awaiting_review"});
    EXPECT_THAT(listed.out, AllOf(HasSubstr("orv_1"), HasSubstr("alpha"), HasSubstr("awaiting review")));
    EXPECT_EQ(fathom(server, {"operator", "review", "list", "--state", "lost"}).code, 2);
    EXPECT_EQ(fathom(server, {"operator", "review", "package", "orv_1", "-o", path("saved.json")}).code, 0);
    EXPECT_EQ(parse_json(read_file(path("saved.json")).value()).value()["key_id"], "k");
    EXPECT_THAT(fathom(server, {"operator", "review", "approve", "orv_1"}).out, HasSubstr("lu version 1 of alpha"));
    EXPECT_EQ(fathom(server, {"operator", "review", "reject", "orv_1"}).code, 2) << "without a reason";
    EXPECT_EQ(fathom(server, {"operator", "review", "reject", "orv_1", "--reason", "no check"}).code, 0);
    EXPECT_EQ(parse_json(server.requests().back().body).value()["reason"], "no check");
}

TEST_F(OperatorCommands, TrustAKeyAsACenters)
{
    make_key();
    const Json key{{"id", "0123456789abcdef"}, {"name", "dana"}, {"center", "alpha"}, {"operators", Json::array()}};
    const FakeServer server({{"POST /api/v1/operator-keys", {answer(201, key.dump())}}});

    const Ran ran =
        fathom(server, {"operator", "key", "add", "--name", "dana", "--center", "alpha", path("ada.key.pub")});

    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("fathom operator submit"));
    EXPECT_EQ(parse_json(server.requests().back().body).value()["center"], "alpha");
}

} // namespace
} // namespace fathom::cli::test
