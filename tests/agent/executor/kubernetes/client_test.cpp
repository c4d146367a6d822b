// Lists of an API server, in pages.

#include "agent/executor/kubernetes/kubernetes_client.hpp"
#include "core/base/file.hpp"
#include "tests/agent/support/builders.hpp"
#include "tests/core/net/support.hpp"

#include <gmock/gmock.h>

#include <mutex>

namespace fathom::agent {
namespace {

using net::Request;
using net::Response;
using testing::ElementsAre;

Json page_of(const std::vector<std::string>& names, const std::string& next)
{
    Json items = Json::array();
    for (const std::string& name : names)
        items.push_back({{"metadata", {{"name", name}}}});
    return {{"metadata", {{"resourceVersion", "7"}, {"continue", next}}}, {"items", std::move(items)}};
}

class KubernetesLists : public testing::Test {
  protected:
    KubernetesLists() : server_(routes())
    {
        write_file(folder_.path() / "ca.crt", net::test::authority().certificate_pem).value();
        write_file(folder_.path() / "token", "secret\n").value();
    }
    KubernetesClient client() const
    {
        KubernetesConfig config;
        config.api = "https://localhost:" + std::to_string(server_.endpoint().port);
        config.ca_file = folder_.path() / "ca.crt";
        config.token_file = folder_.path() / "token";
        config.name_space = "center";
        return KubernetesClient(config);
    }
    net::Router routes()
    {
        net::Router routes;
        routes.add(net::Method::kGet, "/api/v1/pods", net::test::answer_with([this](Request& request) {
                       const std::scoped_lock lock(mutex_);
                       const auto at = request.query.find("continue");
                       const std::string from = at == request.query.end() ? "" : at->second;
                       asked_.push_back(request.query.at("limit") + " " + from);
                       if (from.empty()) return net::json_response(200, page_of({"a", "b"}, "after b").dump());
                       if (is_forgotten_) return net::json_response(410, R"({"message": "expired"})");
                       return net::json_response(200, page_of({"c"}, "").dump());
                   }));
        return routes;
    }

    test::TemporaryFolder folder_;
    std::mutex mutex_;
    std::vector<std::string> asked_;
    bool is_forgotten_ = false;
    net::test::TestServer server_; ///< last, so that it ends first
};

TEST_F(KubernetesLists, ComePageByPageAndAreHandedOverObjectByObject)
{
    KubernetesClient reader = client();
    std::vector<std::string> names;

    const Result<std::string> version = reader.list_each(
        "/api/v1/pods", "", [&](const Json& pod) { names.push_back(text_in(pod, {"metadata", "name"})); });

    EXPECT_EQ(version.value(), "7");
    EXPECT_THAT(names, ElementsAre("a", "b", "c"));
    EXPECT_THAT(asked_, ElementsAre("500 ", "500 after b"));
    EXPECT_EQ(reader.list("/api/v1/pods", "").value().items.size(), 3U);
}

TEST_F(KubernetesLists, AreNoneWhereTheServerForgetsThemMeanwhile)
{
    is_forgotten_ = true;
    KubernetesClient reader = client();

    EXPECT_FALSE(reader.list("/api/v1/pods", ""));
}

} // namespace
} // namespace fathom::agent
