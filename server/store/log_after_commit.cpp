#include "server/store/log_after_commit.hpp"

#include "core/base/log_line.hpp"
#include "server/store/after_commit.hpp"

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace fathom::server {
namespace {

/// A line that waits for its commit. Its fields view its own texts, so that it is never copied.
class KeptLine {
  public:
    KeptLine(LogLevel level, std::string_view event, std::initializer_list<LogField> fields)
        : level_(level), event_(event), fields_(fields)
    {
        for (LogField& field : fields_) {
            field.key = keep(field.key);
            if (const auto* const text = std::get_if<std::string_view>(&field.value)) field.value = keep(*text);
        }
    }
    KeptLine(const KeptLine&) = delete;
    KeptLine& operator=(const KeptLine&) = delete;

    void write() const { write_log_line(level_, event_, fields_); }

  private:
    /// A deque's elements stay where they are.
    std::string_view keep(std::string_view text) { return texts_.emplace_back(text); }

    LogLevel level_;
    std::string event_;
    std::deque<std::string> texts_;
    std::vector<LogField> fields_;
};

} // namespace

void log_after_commit(LogLevel level, std::string_view event, std::initializer_list<LogField> fields)
{
    const auto line = std::make_shared<const KeptLine>(level, event, fields);
    after_commit([line] { line->write(); });
}

} // namespace fathom::server
