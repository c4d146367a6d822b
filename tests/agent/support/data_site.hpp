#pragma once

#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace fathom::agent::test {

/// A web server on the loopback device that answers one request of each connection, and closes it.
class DataSite {
  public:
    /// @param request  head and body
    using Answer = std::function<std::string(const std::string& request)>;

    explicit DataSite(Answer answer);
    ~DataSite();
    DataSite(const DataSite&) = delete;
    DataSite& operator=(const DataSite&) = delete;

    const std::string& url() const { return url_; }
    /// All that was asked; ends the server.
    const std::vector<std::string>& requests();

  private:
    void serve();
    void stop();

    Answer answer_;
    int listener_;
    std::string url_;
    std::thread thread_;
    std::vector<std::string> requests_; ///< of the thread, until it has ended
};

} // namespace fathom::agent::test
