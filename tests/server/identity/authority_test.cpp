#include "core/base/file.hpp"
#include "server/identity/authority.hpp"
#include "server/identity/sealed_secret.hpp"
#include "tests/support/temporary_postgres.hpp"

#include <gmock/gmock.h>

#include <future>
#include <sys/stat.h>

namespace fathom::server {
namespace {

using test::run_sql;
using testing::HasSubstr;

class AuthorityTest : public testing::Test {
  protected:
    AuthorityKeyFile key_file(const std::string& name = "authority.key") const
    {
        const std::filesystem::path path = folder_.path() / name;
        return {.path = path,
                .read = [path] { return read_file(path); },
                .make = [path] { return make_authority_key_file(path); }};
    }
    Result<net::Credential> load(const AuthorityKeyFile& file) const
    {
        Metrics metrics;
        Database database({.url = url_, .connections = 1}, metrics);
        const Result<NetworkAuthorities> loaded = load_authorities(database, file);
        if (!loaded) return loaded.error();
        return loaded->signer();
    }
    /// As each of several replicas at once.
    std::vector<net::Credential> load_by_four() const
    {
        std::vector<std::future<net::Credential>> replicas;
        for (int i = 0; i < 4; ++i)
            replicas.push_back(std::async(std::launch::async, [this] { return load(key_file()).value(); }));
        std::vector<net::Credential> all;
        for (auto& replica : replicas)
            all.push_back(replica.get());
        return all;
    }
    /// As an older fathomd has left it.
    net::Credential insert_in_clear() const
    {
        net::Credential made = net::make_authority("network", 100).value();
        run_sql(url_, "INSERT INTO authority (certificate_pem, key_pem, created_at) VALUES ('" + made.certificate_pem +
                          "', '" + made.key_pem + "', '2026-01-02')");
        return made;
    }
    /// The row as a dump shows it, bytes as text.
    std::string stored() const
    {
        return run_sql(url_, "SELECT concat(key_pem, encode(sealed_key, 'escape')) FROM authority");
    }

    const std::string url_ = test::migrated_database();
    const test::TemporaryFolder folder_;
};

void expect_same(const std::vector<net::Credential>& all, const net::Credential& first)
{
    for (const net::Credential& one : all) {
        EXPECT_EQ(one.certificate_pem, first.certificate_pem);
        EXPECT_EQ(one.key_pem, first.key_pem);
    }
}

TEST_F(AuthorityTest, IsMadeOnceAndSharedByAllReplicas)
{
    const std::vector<net::Credential> replicas = load_by_four();

    expect_same(replicas, replicas.front());
    EXPECT_TRUE(net::read_certificate(replicas.front().certificate_pem));
    EXPECT_EQ(run_sql(url_, "SELECT count(*) FROM authority"), "1");
}

TEST_F(AuthorityTest, TheDatabaseAloneDoesNotHaveItsKey)
{
    const net::Credential authority = load(key_file()).value();

    EXPECT_EQ(run_sql(url_, "SELECT key_pem IS NULL AND length(sealed_key) > 100 FROM authority"), "t");
    EXPECT_EQ(stored().find("PRIVATE KEY"), std::string::npos);
    struct stat facts{};
    ASSERT_EQ(stat(key_file().path.c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777U, 0600U);
    EXPECT_EQ(load(key_file()).value().key_pem, authority.key_pem);
}

TEST_F(AuthorityTest, OneInClearIsEncryptedByTheFirstOfSeveralReplicas)
{
    const net::Credential authority = insert_in_clear();

    expect_same(load_by_four(), authority);

    EXPECT_EQ(stored().find("PRIVATE KEY"), std::string::npos);
    EXPECT_EQ(run_sql(url_, "SELECT count(*) FROM authority"), "1");
    EXPECT_EQ(run_sql(url_, "SELECT created_at::date FROM authority"), "2026-01-02");
}

TEST_F(AuthorityTest, TheKeyInClearIsInNoRowOfBefore)
{
    insert_in_clear();
    const std::string file_before = run_sql(url_, "SELECT pg_relation_filepath('authority')");

    ASSERT_TRUE(load(key_file()));

    EXPECT_NE(run_sql(url_, "SELECT pg_relation_filepath('authority')"), file_before);
}

TEST_F(AuthorityTest, StaysAsItIsWhereTheFileCannotBeWritten)
{
    const net::Credential authority = insert_in_clear();

    EXPECT_EQ(load(key_file("no/such/folder/authority.key")).error().code, Errc::kUnavailable);

    EXPECT_EQ(stored(), authority.key_pem);
    EXPECT_EQ(load(key_file()).value().key_pem, authority.key_pem);
}

TEST_F(AuthorityTest, AMissingOrWrongFileIsNamed)
{
    ASSERT_TRUE(load(key_file()));

    const Error missing = load(key_file("other.key")).error();
    EXPECT_EQ(missing.code, Errc::kNotFound);
    EXPECT_THAT(missing.detail, HasSubstr((folder_.path() / "other.key").string()));
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / "other.key")) << "another key would not help";
    make_authority_key_file(folder_.path() / "other.key").value();
    EXPECT_THAT(load(key_file("other.key")).error().detail,
                HasSubstr("other.key does not open the network's authority"));
    write_file(folder_.path() / "other.key", "notes").value();
    EXPECT_THAT(load(key_file("other.key")).error().detail, HasSubstr("other.key must hold 64 hexadecimal digits"));
}

TEST_F(AuthorityTest, AFileThatIsThereIsTaken)
{
    const std::string given = "  " + format_sealing_key(make_sealing_key());
    write_file(key_file().path, given).value();

    ASSERT_TRUE(load(key_file()));

    EXPECT_EQ(read_file(key_file().path).value(), given);
}

} // namespace
} // namespace fathom::server
