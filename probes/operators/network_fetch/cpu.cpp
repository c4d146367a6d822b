#include "probes/operators/buffer.hpp"
#include "probes/operators/checksum.hpp"
#include "probes/operators/cpu_implementation.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <curl/curl.h>

namespace fathom::probes {
namespace {

constexpr const char* kUrlVariable = "FATHOM_FETCH_URL";
constexpr const char* kAuthorityVariable = "FATHOM_FETCH_CA_FILE";
constexpr long kConnectLimitMs = 5'000;
constexpr long kTransferLimitMs = 60'000;

const char* environment(const char* name)
{
    const char* const value = std::getenv(name);
    return value != nullptr && *value != '\0' ? value : nullptr;
}

/// Where to fetch from: the variable's URL; the metascheduler's own endpoint if it names a host only.
std::string fetch_url(std::string base, std::size_t bytes, std::uint64_t seed)
{
    while (base.ends_with('/'))
        base.pop_back();
    const std::size_t scheme = base.find("://");
    const std::size_t host = scheme == std::string::npos ? 0 : scheme + 3;
    if (base.find('/', host) == std::string::npos) base += "/api/v1/fetch-test";
    const char separator = base.find('?') == std::string::npos ? '?' : '&';
    return base + separator + "bytes=" + std::to_string(bytes) + "&seed=" + std::to_string(seed);
}

/// Byte of what a data site sends: a formula, so that neither side has to keep the data.
unsigned char byte_at(std::size_t i, std::uint64_t seed)
{
    return static_cast<unsigned char>(i * 131 + (i >> 8U) * 31 + seed);
}

struct EasyHandle {
    void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};

Result<void> network_fetch_available()
{
    if (environment(kUrlVariable) != nullptr) return {};
    return Error{Errc::kUnavailable, std::string("the environment variable ") + kUrlVariable +
                                         " is not set; it names the data site to fetch from"};
}

class NetworkFetch final : public ProbeOperator {
  public:
    explicit NetworkFetch(std::size_t bytes) : bytes_(bytes) {}

    Result<void> prepare(std::uint64_t seed) override
    {
        const char* const base = environment(kUrlVariable);
        if (base == nullptr) return network_fetch_available();
        seed_ = seed & 0x7fffffffU; // the data site takes a whole number that any program can hold
        content_ = Buffer<unsigned char>(bytes_);
        std::fill_n(content_.data(), bytes_, static_cast<unsigned char>(0));
        static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
        handle_.reset(started == CURLE_OK ? curl_easy_init() : nullptr);
        if (handle_ == nullptr) return Error{Errc::kUnavailable, "libcurl does not start"};
        set_options(fetch_url(base, bytes_, seed_));
        if (const std::string problem = fetch(); !problem.empty())
            return Error{Errc::kUnavailable, "cannot fetch " + fetch_url(base, bytes_, seed_) + ": " + problem};
        return {};
    }

    void execute() override { failed_ = !fetch().empty(); }

    double error() override
    {
        if (failed_) return 1;
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < bytes_; ++i) {
            if (content_[i] != byte_at(i, seed_)) ++wrong;
        }
        return static_cast<double>(wrong) / static_cast<double>(bytes_);
    }

    std::string checksum() override { return exact_checksum(content_.bytes()); }

    std::string library() const override
    {
        const curl_version_info_data* const version = curl_version_info(CURLVERSION_NOW);
        const std::string tls = version->ssl_version != nullptr ? version->ssl_version : "no TLS";
        return "libcurl " + std::string(version->version) + " " + tls;
    }

    std::span<std::byte> output() override { return content_.bytes(); }

  private:
    void set_options(const std::string& url)
    {
        CURL* const handle = handle_.get();
        curl_easy_setopt(handle, CURLOPT_URL, url.c_str());
        curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
        curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L); // this process has threads
        curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, kConnectLimitMs);
        curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, kTransferLimitMs);
        curl_easy_setopt(handle, CURLOPT_USERAGENT, "fathom-probe");
        curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, problem_);
        curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, &NetworkFetch::receive);
        curl_easy_setopt(handle, CURLOPT_WRITEDATA, this);
        if (const char* const authority = environment(kAuthorityVariable))
            curl_easy_setopt(handle, CURLOPT_CAINFO, authority);
    }

    /// Empty, or what went wrong.
    std::string fetch()
    {
        received_ = 0;
        problem_[0] = '\0';
        const CURLcode done = curl_easy_perform(handle_.get());
        long status = 0;
        curl_easy_getinfo(handle_.get(), CURLINFO_RESPONSE_CODE, &status);
        if (status != 0 && status != 200) return "the answer has status " + std::to_string(status);
        if (received_ > bytes_) return "the answer has more bytes than asked for";
        if (done != CURLE_OK) return problem_[0] != '\0' ? problem_ : curl_easy_strerror(done);
        if (received_ < bytes_) return "the answer has " + std::to_string(received_) + " bytes only";
        return "";
    }

    /// libcurl's: a return value other than the size given ends the transfer.
    static std::size_t receive(const char* data, std::size_t /*one*/, std::size_t size, void* context)
    {
        NetworkFetch& self = *static_cast<NetworkFetch*>(context);
        const std::size_t room = self.received_ <= self.bytes_ ? self.bytes_ - self.received_ : 0;
        std::memcpy(self.content_.data() + std::min(self.received_, self.bytes_), data, std::min(size, room));
        self.received_ += size;
        return size <= room ? size : 0;
    }

    std::size_t bytes_;
    std::uint64_t seed_{};
    std::size_t received_{};
    bool failed_ = false;
    Buffer<unsigned char> content_;
    char problem_[CURL_ERROR_SIZE]{}; ///< libcurl writes here
    std::unique_ptr<CURL, EasyHandle> handle_;
};

std::unique_ptr<ProbeOperator> make_network_fetch(const Parameters& parameters, int /*threads*/)
{
    return std::make_unique<NetworkFetch>(static_cast<std::size_t>(parameters.at("bytes")));
}

double network_fetch_memory(const Parameters& parameters)
{
    return static_cast<double>(parameters.at("bytes"));
}

} // namespace

CpuImplementation network_fetch_on_cpu()
{
    return {.make = make_network_fetch, .memory = network_fetch_memory, .available = network_fetch_available};
}

} // namespace fathom::probes
