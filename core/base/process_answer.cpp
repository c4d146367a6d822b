#include "core/base/process_answer.hpp"

#include "core/base/result.hpp"

#include <string>

namespace fathom {
namespace {

constexpr char kSuccess = '+';
constexpr char kError = '-';
constexpr char kFirstCode = 'a';
constexpr char kLastCode = kFirstCode + static_cast<char>(Errc::kInternal);

} // namespace

std::string encode_answer(const Result<std::string>& answer)
{
    if (answer) return kSuccess + *answer;
    return std::string{kError, static_cast<char>(kFirstCode + static_cast<char>(answer.error().code))} +
           answer.error().detail;
}

Result<std::string> decode_answer(std::string text)
{
    if (text.starts_with(kSuccess)) {
        text.erase(0, 1);
        return text;
    }
    if (text.size() < 2 || text[0] != kError || text[1] < kFirstCode || text[1] > kLastCode)
        return Error{Errc::kInternal, "this program's other process gave no answer"};
    return Error{static_cast<Errc>(text[1] - kFirstCode), text.substr(2)};
}

} // namespace fathom
