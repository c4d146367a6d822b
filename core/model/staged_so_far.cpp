#include "core/model/staged_so_far.hpp"

#include "core/base/json_reader.hpp"
#include "core/base/parse_number.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fathom {
namespace {

constexpr std::int64_t kMegabyte = 1'000'000;
constexpr std::int64_t kMaxStagedNumber = 1'000'000'000'000; ///< of each in a line: bytes in MB, seconds, inputs

std::string megabytes(std::int64_t bytes)
{
    return std::to_string(bytes / kMegabyte) + " MB";
}

/// Takes what a text begins with.
class LineReader {
  public:
    explicit LineReader(std::string_view text) : text_(text) {}

    bool take(std::string_view word)
    {
        if (!text_.starts_with(word)) return false;
        text_.remove_prefix(word.size());
        return true;
    }
    bool take(std::int64_t& number)
    {
        const std::size_t digits = std::min(text_.find_first_not_of("0123456789"), text_.size());
        const std::optional<std::int64_t> read = parse_number<std::int64_t>(text_.substr(0, digits));
        if (!read || *read > kMaxStagedNumber) return false;
        number = *read;
        text_.remove_prefix(digits);
        return true;
    }
    bool is_done() const { return text_.empty(); }

  private:
    std::string_view text_;
};

std::optional<StagedSoFar> read_line(std::string_view text)
{
    LineReader line(text);
    StagedSoFar so_far;
    std::int64_t total_mb = 0;
    if (!line.take(kStagingLinePrefix) || !line.take(so_far.complete) || !line.take(" of ") ||
        !line.take(so_far.inputs) || !line.take(" inputs are staged, ") || !line.take(so_far.bytes) ||
        !line.take(" MB"))
        return std::nullopt;
    so_far.bytes *= kMegabyte;
    if (line.take(" of ")) {
        if (!line.take(total_mb) || !line.take(" MB")) return std::nullopt;
        so_far.total_bytes = total_mb * kMegabyte;
    }
    if (!line.take(" in ") || !line.take(so_far.elapsed_s) || !line.take(" s") || !line.is_done()) return std::nullopt;
    return so_far;
}

} // namespace

std::string staging_line(const StagedSoFar& so_far)
{
    std::string text = std::to_string(so_far.complete) + " of " + std::to_string(so_far.inputs) +
                       " inputs are staged, " + megabytes(so_far.bytes);
    if (so_far.total_bytes) text += " of " + megabytes(*so_far.total_bytes);
    return text + " in " + std::to_string(so_far.elapsed_s) + " s";
}

std::optional<StagedSoFar> find_staged_so_far(std::string_view text)
{
    // Only whole lines: of one that is cut short the last number may lack digits.
    for (std::size_t end = text.rfind('\n'); end != std::string_view::npos;) {
        const std::size_t before = end == 0 ? std::string_view::npos : text.rfind('\n', end - 1);
        const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
        if (const std::optional<StagedSoFar> found = read_line(text.substr(begin, end - begin)))
            return found->complete < found->inputs ? found : std::nullopt;
        end = before;
    }
    return std::nullopt;
}

Json to_json(const StagedSoFar& so_far)
{
    return {{"complete", so_far.complete},
            {"inputs", so_far.inputs},
            {"bytes", so_far.bytes},
            {"total_bytes", so_far.total_bytes ? Json(*so_far.total_bytes) : Json()},
            {"elapsed_s", so_far.elapsed_s}};
}

} // namespace fathom
