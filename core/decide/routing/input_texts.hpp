#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

namespace fathom {

/// Texts of what the inputs of many decisions have in common, such as the prices of a week: made once, and written
/// often. At most kMaxBytes of them and of what they are found by, or one that is longer. A copy has none. Not
/// thread-safe.
class InputTexts {
  public:
    InputTexts() = default;
    InputTexts(const InputTexts& /*other*/) {}
    InputTexts& operator=(const InputTexts& other);
    InputTexts(InputTexts&&) = default;
    InputTexts& operator=(InputTexts&&) = default;
    ~InputTexts() = default;

    /// The text of a member of the inputs. Valid until the next call.
    /// @param source  what it is made of: does not change while anybody has it
    /// @param operators  which of the source's operators it tells
    /// @param make  makes it, where it is not kept; what it throws leaves the texts as they were
    const std::string& of(const std::shared_ptr<const void>& source, const char* member, const std::string& operators,
                          const std::function<std::string()>& make);
    /// Leaves out the texts of sources that nobody else has any more, which nobody will ask for: a source may be far
    /// larger than its texts, of which the bytes bound nothing else.
    void forget_unused();
    /// Of all that is kept, but for the sources.
    std::size_t size_bytes() const { return size_bytes_; }
    static constexpr std::size_t kMaxBytes = std::size_t{32} << 20;
    /// Of each text beside its own and those of its member and operators, roughly: many are very short.
    static constexpr std::size_t kBytesBeside = 192;

  private:
    struct OfSource {
        std::shared_ptr<const void> source; ///< kept, so that nothing else has its address
        std::map<std::pair<std::string, std::string>, std::string> texts; ///< by member and operators
        std::size_t size_bytes = 0;
    };
    std::unordered_map<const void*, OfSource> sources_;
    std::size_t size_bytes_ = 0;
};

} // namespace fathom
