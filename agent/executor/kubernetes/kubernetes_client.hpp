#pragma once

#include "agent/config/agent_config.hpp"
#include "agent/executor/kubernetes/cluster_objects.hpp"
#include "core/net/client.hpp"

#include <functional>
#include <memory>
#include <mutex>

namespace fathom::agent {

/// What the API server's refusal means; the detail has its words, what was wanted, and a way out where there is one.
/// Pure. kUnauthenticated 401, kForbidden 403, kNotFound 404, kConflict 409, kTooMany 429, kInvalid other 4xx,
/// kUnavailable 5xx.
/// @param what  that was asked for: "create Job x"
Error refusal_of(int status, const std::string& body, const std::string& what);

/// How long to wait before the next request after so many failures in a row: what Retry-After says, else 1 s and twice
/// as long each time, 60 s at most. Pure.
std::chrono::milliseconds pause_after(int failures, std::string_view retry_after);

/// A text in a URL's query.
std::string percent_encode(std::string_view text);

/// The namespace of the settings, else that of the token's folder, else "default". Blocks.
std::string namespace_of(const KubernetesConfig& config);

/// Items of a list, with the version from which on changes are told.
struct ObjectList {
    std::vector<Json> items;
    std::string version;
};

/// How a watch ended that did not fail.
enum class WatchEnd {
    kOver, ///< its time is over: watch on from the last version
    kGone, ///< the server does not have that version any more: list anew
};

/// The API server of a cluster, by HTTPS. Each function blocks, for a minute at most but for watch(). The token is read
/// anew for each request. For one thread, but for interrupt().
class KubernetesClient {
  public:
    explicit KubernetesClient(KubernetesConfig config);

    /// The server's version, such as v1.20.2; empty: it does not answer.
    std::string version();
    /// @return the Job as it was made
    /// @error kConflict  there is one of that name. For the rest: refusal_of(), kUnavailable and kDeadline.
    Result<Json> create_job(const Json& manifest);
    Result<Json> read_job(const std::string& name);
    /// With its pods. One that is not there, or another one of that name than `uid` says, counts as deleted.
    Result<void> delete_job(const std::string& name, const std::string& uid);
    /// The end of what a pod's container printed, at most 64 KiB.
    Result<std::string> read_log(const std::string& pod);
    /// All objects below a path of the API, such as `/api/v1/nodes`, in pages.
    /// @param query  a selector, encoded: `labelSelector=…`; may be empty
    Result<ObjectList> list(const std::string& path, const std::string& query);
    /// The same, object by object, so that no more than a page of them is in memory.
    /// @return the version from which on changes are told; after an error some may have been handed over
    Result<std::string> list_each(const std::string& path, const std::string& query,
                                  const std::function<void(const Json&)>& on_item);
    /// Tells changes as they come, for some minutes at most.
    /// @param version   from which on; becomes that of the last event
    /// @param on_event  with the type (ADDED, MODIFIED, DELETED) and the object
    Result<WatchEnd> watch(const std::string& path, const std::string& query, std::string& version,
                           const std::function<void(const std::string&, const Json&)>& on_event);

    /// How long the server wants to be left alone, after the last request.
    std::chrono::milliseconds pause() const { return pause_; }
    /// Of what a namespace has: `/api/v1/namespaces/NAME/pods`.
    std::string path_of(const char* group, const char* kind) const;
    /// Ends what is under way, and all later requests. Thread-safe.
    void interrupt();

  private:
    Result<net::HttpClient*> connect();
    Result<net::Headers> headers() const;
    Result<net::ClientResponse> ask(net::Method method, const std::string& target, const std::string& body,
                                    const std::string& what);
    Result<net::ClientResponse> judge(Result<net::ClientResponse> answer, const std::string& what);

    KubernetesConfig config_;
    std::string namespace_;
    int failures_ = 0; ///< in a row
    std::chrono::milliseconds pause_{0};
    std::mutex mutex_; ///< of http_, which interrupt() uses
    bool is_interrupted_ = false;
    std::unique_ptr<net::HttpClient> http_;
};

} // namespace fathom::agent
