#include "probes/profile/stand_ins.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace fathom::profile {
namespace {

constexpr double kSmallestPart = 0.005; // less is not worth a probe's time
constexpr std::int64_t kFileBytes = 1 << 20;

/// Loops of one operator.
struct Matched {
    std::string id;
    double share{};
    double similarity{};
};

/// The operators that most of the matched loops' time goes to.
std::vector<Matched> matched_operators(const OwnCode& code)
{
    constexpr std::size_t kMaxMatched = 3; // each may occur twice
    std::map<std::string, Matched> by_id;
    for (const OwnLoop& loop : code.loops) {
        if (loop.stand_in.empty() || !(loop.share > 0)) continue;
        Matched& one = by_id[loop.stand_in];
        one.id = loop.stand_in;
        one.similarity =
            (one.similarity * one.share + loop.stand_in_similarity * loop.share) / (one.share + loop.share);
        one.share += loop.share;
    }
    std::vector<Matched> matched;
    for (const auto& [id, one] : by_id)
        matched.push_back(one);
    std::sort(matched.begin(), matched.end(),
              [](const Matched& a, const Matched& b) { return std::tie(b.share, a.id) < std::tie(a.share, b.id); });
    if (matched.size() > kMaxMatched) matched.resize(kMaxMatched);
    return matched;
}

/// At most some tenths of a second of an operator, within a core's caches or beyond all.
Parameters size_of(const std::string& id, bool is_beyond_caches)
{
    // Beyond: 48 MB each. A job may have little more memory than its program took.
    if (id == "spmv") return {{"rows", is_beyond_caches ? 140'000 : 1000}};
    if (id == "random_access") return {{"n", is_beyond_caches ? 750'000 : 8192}}; // of 64 bytes
    if (id == "sort") return {{"n", is_beyond_caches ? 2'000'000 : 32'768}};
    if (id == "trigonometric") return {{"n", 200'000}};
    return {{"n", is_beyond_caches ? 2'000'000 : 1000}};
}

/// How alike the loops that are like no operator are to what stands for them, 0..1; what was not looked at counts as
/// alike.
/// @param share  of the program's thread time: what is left when matched loops are taken away
double similarity_of_rest(const OwnCode& code, double share)
{
    double unlike = 0;
    for (const OwnLoop& loop : code.loops) {
        if (loop.stand_in.empty() && !(loop.mix.waits > 0)) unlike += loop.share * (1 - loop.stand_in_similarity);
    }
    return share > 0 ? 1 - std::clamp(unlike / share, 0.0, 1.0) : 1;
}

/// Parts of one operator at one size are one.
void add(StandIn part, std::vector<StandIn>& parts)
{
    const auto same = std::find_if(parts.begin(), parts.end(), [&](const StandIn& one) {
        return one.remainder == part.remainder && one.id == part.id && one.parameters == part.parameters;
    });
    if (same == parts.end()) {
        parts.push_back(std::move(part));
        return;
    }
    const double share = same->share + part.share;
    same->similarity = (same->similarity * same->share + part.similarity * part.share) / share;
    same->share = share;
}

} // namespace

std::vector<StandIn> stand_ins(const Remainder& remainder, const OwnCode& code)
{
    std::vector<StandIn> parts;
    const double running = remainder.memory + remainder.compute;
    double unmatched = 1; // of the running time
    const auto is_large = [](double share) { return share >= kSmallestPart; };
    for (const Matched& one : matched_operators(code)) {
        if (running <= 0) break;
        const double part = std::min(unmatched, one.share / running);
        const double memory = part * remainder.memory;
        const double compute = part * remainder.compute;
        // What is too small for a probe goes with the other part: it is the same loop.
        const bool is_one = !is_large(memory) || !is_large(compute);
        if (!is_large(memory + compute)) continue;
        unmatched -= part;
        const bool is_memory = memory > compute;
        if (is_one) {
            add({is_memory ? "memory" : "compute", one.id, size_of(one.id, is_memory), memory + compute,
                 one.similarity},
                parts);
            continue;
        }
        add({"memory", one.id, size_of(one.id, true), memory, one.similarity}, parts);
        add({"compute", one.id, size_of(one.id, false), compute, one.similarity}, parts);
    }
    // Reading and writing cannot be told apart from outside; half of each.
    const double alike = similarity_of_rest(code, unmatched * running);
    const StandIn rest[] = {
        {"memory", "stream_triad", size_of("stream_triad", true), unmatched * remainder.memory, alike},
        {"compute", "trigonometric", size_of("trigonometric", false), unmatched * remainder.compute, alike},
        {"io", "file_read", {{"bytes", kFileBytes}}, remainder.io / 2},
        {"io", "file_write", {{"bytes", kFileBytes}}, remainder.io / 2}};
    for (const StandIn& part : rest) {
        if (is_large(part.share)) add(part, parts);
    }
    return parts;
}

std::vector<StandIn> possible_stand_ins()
{
    std::set<std::string> of_loops{"stream_triad", "trigonometric"};
    for (const OperatorCode& code : operator_code()) {
        if (code.is_on_devices) of_loops.emplace(code.operator_id);
    }
    std::vector<StandIn> parts;
    for (const std::string& id : of_loops) {
        parts.push_back({"compute", id, size_of(id, false)});
        if (size_of(id, true) != parts.back().parameters) parts.push_back({"memory", id, size_of(id, true)});
    }
    parts.push_back({"io", "file_read", {{"bytes", kFileBytes}}});
    parts.push_back({"io", "file_write", {{"bytes", kFileBytes}}});
    return parts;
}

} // namespace fathom::profile
