#pragma once

#include "tests/server/jobs/jobs_fixture.hpp"

#include <string>
#include <vector>

namespace fathom::server {

/// A network without centers yet, to which jobs are posted.
class Submission : public JobsFixture {
  protected:
    /// The fields of a problem's errors[].
    static std::vector<std::string> fields_of(const net::Response& response)
    {
        std::vector<std::string> fields;
        for (const Json& error : Json::parse(response.body).value("errors", Json::array()))
            fields.push_back(error["field"].get<std::string>());
        return fields;
    }
    double count_of(const std::string& metric)
    {
        const std::string text = metrics_.expose();
        const std::size_t at = text.find("\n" + metric + " ");
        return at == std::string::npos ? 0 : std::stod(text.substr(at + metric.size() + 2));
    }
    net::Response post(const std::string& body, const net::Headers& headers = {})
    {
        return call(net::Method::kPost, "/jobs", body, headers);
    }
};

} // namespace fathom::server
