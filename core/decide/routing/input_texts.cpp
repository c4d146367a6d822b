#include "core/decide/routing/input_texts.hpp"

namespace fathom {

InputTexts& InputTexts::operator=(const InputTexts& other)
{
    if (this != &other) *this = InputTexts();
    return *this;
}

const std::string& InputTexts::of(const std::shared_ptr<const void>& source, const char* member,
                                  const std::string& operators, const std::function<std::string()>& make)
{
    std::pair<std::string, std::string> key(member, operators);
    const auto known = sources_.find(source.get());
    if (known != sources_.end()) {
        const auto text = known->second.texts.find(key);
        if (text != known->second.texts.end()) return text->second;
    }
    std::string text = make();
    if (size_bytes_ + text.size() > kMaxBytes) {
        sources_.clear();
        size_bytes_ = 0;
    }
    size_bytes_ += text.size();
    OfSource& kept = sources_[source.get()];
    kept.source = source;
    return kept.texts.insert_or_assign(std::move(key), std::move(text)).first->second;
}

} // namespace fathom
