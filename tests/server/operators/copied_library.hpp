#pragma once

#include "core/base/metrics.hpp"
#include "server/operators/library_follower.hpp"
#include "server/operators/operator_keys_service.hpp"
#include "tests/server/centers/support/network_data.hpp"
#include "tests/support/test_io.hpp"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

/// A library of operators that is a copy of another network's (M2). The other one is played by what its REST interface
/// would answer.
namespace fathom::server {

/// What the other fathomd answers, one item on each page.
class OtherLibrary {
  public:
    /// Newest first within its operator, as they stand in the answer.
    void add(const OperatorManifest& manifest, const std::string& origin)
    {
        OperatorRecord record;
        record.manifest = manifest;
        record.origin = origin;
        std::vector<Json>& versions = versions_[manifest.id];
        versions.insert(versions.begin(), to_json(record));
    }
    void upload(const OperatorPackage& package)
    {
        add(package.manifest, "uploaded");
        answers[target_of(package.manifest)] = to_json(package);
    }
    static std::string target_of(const OperatorManifest& manifest)
    {
        return "/api/v1/operators/" + manifest.id + "/versions/" + std::to_string(manifest.version) + "/package";
    }
    /// Its newest version.
    Json& newest(const std::string& id) { return versions_.at(id).front(); }

    LibrarySite site()
    {
        return {.ask = [this](const std::string& target) { return answer(target); }, .interrupt = [] {}};
    }

    std::map<std::string, Json> answers; ///< that go before others, by target
    std::optional<Error> failure;

  private:
    Result<Json> answer(const std::string& target) const
    {
        if (failure) return *failure;
        if (const auto found = answers.find(target); found != answers.end()) return found->second;
        const std::string path = target.substr(0, target.find('?'));
        std::vector<Json> items;
        for (const auto& [id, versions] : versions_) {
            if (path == "/api/v1/operators") items.push_back(versions.front());
            if (path == "/api/v1/operators/" + id + "/versions") items = versions;
        }
        const std::size_t at = target.find("&page_token=");
        const std::size_t number = at == std::string::npos ? 0 : std::stoul(target.substr(at + 12));
        if (number >= items.size()) return Error{Errc::kUnavailable, "404: " + target};
        const bool is_last = number + 1 == items.size();
        return Json{{"items", Json::array({items[number]})},
                    {"next_page_token", is_last ? Json() : Json(std::to_string(number + 1))}};
    }

    std::map<std::string, std::vector<Json>> versions_;
};

/// Counts what it is asked to end.
class CountedRuns final : public ProbeRunTerminator {
  public:
    Result<std::int64_t> end_withdrawn_runs(pqxx::work&, const std::string& operator_id, std::int64_t version) override
    {
        ended.push_back(operator_id + "@" + std::to_string(version));
        return 0;
    }
    std::vector<std::string> ended;
};

inline OperatorManifest changed_operator(std::int64_t version, const std::string& description = "better told")
{
    OperatorManifest manifest = test::simple_operator("op1");
    manifest.version = version;
    manifest.description = description;
    return manifest;
}

class CopiedLibrary : public testing::Test {
  protected:
    CopiedLibrary()
    {
        service.seed({test::simple_operator("op1")}).value();
        other.add(test::simple_operator("op1"), "built_in");
    }
    ~CopiedLibrary() override { store.database().stop(); }

    void trust_key()
    {
        OperatorKeyOrder order;
        order.name = "ada";
        order.public_key_pem = keys.public_pem;
        order.key = parse_public_keys(keys.public_pem).value().front();
        OperatorKeysService key_service(store.database());
        io.run(key_service.add(caller, order)).value();
    }
    OperatorPackage package(const OperatorManifest& manifest) const
    {
        return sign_operator(manifest, test::tiny_object(), keys.private_pem).value();
    }
    /// One look, as another replica would take it: it reads the library anew.
    Result<LibraryCopy> look()
    {
        service.seed({test::simple_operator("op1")}).value();
        LibraryFollower follower(store.database(), service, runs, place, other.site(), metrics);
        return follower.look();
    }
    std::string stored() const
    {
        return store.sql("SELECT string_agg(id || '@' || version || ' ' || origin || "
                         "CASE WHEN withdrawn_at IS NULL THEN '' ELSE ' withdrawn' END, ', ' ORDER BY id, version) "
                         "FROM operator");
    }

    test::TestStore store;
    fathom::test::TestIo io;
    Metrics metrics;
    OperatorsService service{store.database()};
    CountedRuns runs;
    OtherLibrary other;
    LibraryPlace place{.url = "https://other.example.org", .token = "secret", .authority_pem = ""};
    const Caller caller{"tok_expert", "req_1"};
    const KeyPair keys = new_key_pair().value();
};

} // namespace fathom::server
