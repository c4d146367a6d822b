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
    const std::size_t size = text.size() + key.first.size() + key.second.size() + kBytesBeside;
    if (size_bytes_ + size > kMaxBytes) {
        sources_.clear();
        size_bytes_ = 0;
    }
    OfSource& kept = sources_[source.get()];
    kept.source = source;
    const auto made = kept.texts.emplace(std::move(key), std::move(text)).first;
    kept.size_bytes += size;
    size_bytes_ += size;
    return made->second;
}

void InputTexts::forget_unused()
{
    std::erase_if(sources_, [this](const auto& one) {
        const bool is_unused = one.second.source.use_count() <= 1;
        if (is_unused) size_bytes_ -= one.second.size_bytes;
        return is_unused;
    });
}

} // namespace fathom
