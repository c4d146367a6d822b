#include "tests/support/standin_gpu/virtual_clock.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string_view>

namespace fathom::standin {
namespace {

constexpr std::int64_t kNsPerUs = 1000;

/// What a card with PCIe 3.0 and HBM has, in round figures.
struct Costs {
    std::int64_t call_ns = 1000;
    std::int64_t launch_ns = 5000;
    std::int64_t copy_latency_ns = 10'000;
    std::int64_t copy_bytes_per_us = 12'000;
    std::int64_t memory_bytes_per_us = 500'000;
    std::int64_t kernel_ns = 0; ///< of one that declares less
};

Costs read_costs()
{
    Costs costs;
    if (const char* const least_us = std::getenv("FATHOM_STANDIN_KERNEL_US"))
        costs.kernel_ns = std::strtoll(least_us, nullptr, 10) * kNsPerUs;
    const std::map<std::string, std::int64_t*> fields{{"call-ns", &costs.call_ns},
                                                      {"launch-ns", &costs.launch_ns},
                                                      {"copy-latency-ns", &costs.copy_latency_ns},
                                                      {"copy-bytes-per-us", &costs.copy_bytes_per_us},
                                                      {"memory-bytes-per-us", &costs.memory_bytes_per_us}};
    const char* const text = std::getenv("FATHOM_STANDIN_COSTS");
    std::istringstream words(text == nullptr ? "" : text);
    for (std::string word; words >> word;) {
        const std::size_t equals = word.find('=');
        const auto field = fields.find(word.substr(0, equals));
        if (equals == std::string::npos || field == fields.end()) fault("FATHOM_STANDIN_COSTS has no " + word);
        *field->second = std::strtoll(word.c_str() + equals + 1, nullptr, 10);
    }
    if (costs.copy_bytes_per_us <= 0 || costs.memory_bytes_per_us <= 0) fault("FATHOM_STANDIN_COSTS moves nothing");
    return costs;
}

const Costs& costs()
{
    static const Costs read = read_costs();
    return read;
}

/// Whole ns, and no byte for nothing.
std::int64_t ns_of(std::size_t bytes, std::int64_t bytes_per_us)
{
    return (static_cast<std::int64_t>(bytes) * kNsPerUs + bytes_per_us - 1) / bytes_per_us;
}

CardBooks& books_of(const OwnContext& context)
{
    return *driver().gpus[static_cast<std::size_t>(context.device)].books;
}

/// A stream may be of another context than the current one.
OwnContext& home_of(OwnContext& context, const OwnStream* stream)
{
    return stream == nullptr ? context : *stream->context;
}

} // namespace

bool is_virtual()
{
    static const bool is_set = [] {
        const char* const clock = std::getenv("FATHOM_STANDIN_CLOCK");
        const std::string_view text = clock == nullptr ? "real" : clock;
        if (text != "real" && text != "virtual") fault("FATHOM_STANDIN_CLOCK is neither real nor virtual");
        return text == "virtual";
    }();
    return is_set;
}

void charge_call()
{
    if (is_virtual()) driver().program_ns += costs().call_ns;
}

void charge_launch()
{
    if (is_virtual()) driver().program_ns += costs().launch_ns;
}

std::int64_t copy_ns(std::size_t bytes)
{
    return costs().copy_latency_ns + ns_of(bytes, costs().copy_bytes_per_us);
}

std::int64_t memory_ns(std::size_t bytes)
{
    return ns_of(bytes, costs().memory_bytes_per_us);
}

std::int64_t kernel_ns(const Kernel& kernel, std::int64_t blocks, std::uint64_t last_argument)
{
    const std::int64_t spun_ns = kernel.name == "spin" ? static_cast<std::int64_t>(last_argument) * kNsPerUs : 0;
    return std::max(spun_ns + kernel.block_ns * blocks, costs().kernel_ns);
}

std::int64_t put_work(OwnContext& context, OwnStream* stream, Engine engine, std::int64_t cost_ns)
{
    if (!is_virtual()) return 0;
    CardBooks& books = books_of(home_of(context, stream));
    const std::int64_t done_ns = books.use(engine, done_at(context, stream), cost_ns);
    hold_stream(context, stream, done_ns);
    return done_ns;
}

std::int64_t done_at(const OwnContext& context, const OwnStream* stream)
{
    std::int64_t at_ns = driver().program_ns;
    if (stream != nullptr) {
        at_ns = std::max(at_ns, stream->done_ns);
        return stream->is_blocking ? std::max(at_ns, stream->context->legacy_done_ns) : at_ns;
    }
    at_ns = std::max(at_ns, context.legacy_done_ns);
    for (const OwnStream* other : driver().streams) {
        if (other->context == &context && other->is_blocking) at_ns = std::max(at_ns, other->done_ns);
    }
    return at_ns;
}

void hold_stream(OwnContext& context, OwnStream* stream, std::int64_t until_ns)
{
    std::int64_t& line = stream == nullptr ? context.legacy_done_ns : stream->done_ns;
    line = std::max(line, until_ns);
}

std::int64_t all_done_at(const OwnContext& context)
{
    std::int64_t at_ns = std::max({driver().program_ns, context.legacy_done_ns, context.gone_done_ns});
    for (const OwnStream* stream : driver().streams) {
        if (stream->context == &context) at_ns = std::max(at_ns, stream->done_ns);
    }
    return at_ns;
}

void move_program_to(const OwnContext& context, std::int64_t at_ns)
{
    if (!is_virtual()) return;
    driver().program_ns = std::max(driver().program_ns, at_ns);
    books_of(context).note_time(driver().program_ns);
}

std::int64_t program_ns()
{
    return driver().program_ns;
}

void come_to(const OwnContext& context)
{
    if (is_virtual()) driver().program_ns = std::max(driver().program_ns, books_of(context).latest_ns());
}

} // namespace fathom::standin
