#pragma once

#include "core/base/clock.hpp"
#include "core/base/metrics.hpp"
#include "core/net/task_group.hpp"
#include "core/net/tls.hpp"
#include "server/identity/network_authorities.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace fathom::server {

namespace asio = boost::asio;

/// Certificate and key of the REST listener, where its operator has some.
struct CertificateFiles {
    std::string names;                             ///< of settings and files, as people are told
    std::function<Result<net::Credential>()> read; ///< null: there are none
};

/// What the listeners show. The one for agents shows a certificate of the network's authority, which is made at the
/// start and anew before it expires; the REST listener shows the operator's, or else the same. Files that change are
/// taken within seconds; a pair that is not fit is refused, and what was shown before goes on being shown.
/// By one thread at a time; clock and metrics must outlive it.
class ListenerCertificates {
  public:
    using Show = std::function<void(net::TlsContext)>;

    ListenerCertificates(CertificateFiles files, const Clock& clock, Metrics& metrics);

    /// Reads the files, if there are any, for the first time.
    /// @error kInvalid  they cannot be read, or are no pair that a listener could show; the detail names them.
    Result<void> read_files();
    /// Makes a certificate of the network's authority for `names`. After read_files().
    Result<void> make_own(NetworkAuthorities authorities, std::vector<std::string> names);
    /// Takes agents' certificates of these authorities from now on, and shows a certificate of the current one, where
    /// what is shown is of the network's authority. After make_own().
    /// @error kInternal  no certificate could be made; all stays as it was.
    Result<void> change_authorities(NetworkAuthorities authorities);

    const net::TlsContext& rest() const { return rest_; }
    const net::TlsContext& agents() const { return own_; }

    /// Where it shows what is new.
    void show_on(Show rest, Show agents);
    /// From now on looks every few seconds, on `executor`, whose thread waits for the files.
    void start(net::TaskGroup& group, const asio::any_io_executor& executor);
    /// One look; called by the periodic task, and by tests. Blocks, shortly.
    void look();

  private:
    asio::awaitable<void> follow();
    Result<void> take_files(const net::Credential& read);
    void read_changed_files();
    Result<void> renew_own(const NetworkAuthorities& authorities);
    void tell_expiry(const char* certificate, Timestamp not_after, std::chrono::seconds warn_before,
                     const std::string& what_to_do = "");

    const CertificateFiles files_;
    const Clock* clock_;
    Metrics* metrics_;
    Show show_rest_;
    Show show_agents_;

    NetworkAuthorities authorities_;
    std::vector<std::string> own_names_;
    Timestamp own_until_{};
    net::TlsContext own_;

    std::string files_digest_; ///< of the pair that is shown: the key itself need not stay in memory
    Timestamp files_until_{};
    std::string refusal_; ///< that the log has already; empty: the files are shown
    net::TlsContext rest_;
    std::optional<Timestamp> warned_; ///< that something expires
};

} // namespace fathom::server
