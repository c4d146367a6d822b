#include "core/base/yaml.hpp"

#include "core/base/json_reader.hpp"
#include "core/base/parse_number.hpp"
#include "core/base/result.hpp"
#include "core/base/utf8.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fathom {
namespace {

/// YAML 1.2 core schema for a plain scalar.
Json plain_scalar(const std::string& text)
{
    if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") return nullptr;
    if (text == "true" || text == "True" || text == "TRUE") return true;
    if (text == "false" || text == "False" || text == "FALSE") return false;
    if (text.starts_with("+-")) return text;
    const std::string_view digits = std::string_view(text).substr(text[0] == '+' ? 1 : 0);
    if (const auto integer = parse_number<std::int64_t>(digits)) return *integer;
    // Words like "inf" and "nan" are strings here: JSON has no such numbers.
    if (const auto number = parse_number<double>(digits)) return *number;
    return text;
}

/// Builds the JSON value from parse events, so that limits hold before a tree exists.
class JsonBuilder final : public YAML::EventHandler {
  public:
    explicit JsonBuilder(std::size_t max_depth) : max_depth_(max_depth) {}

    Json take() { return std::move(root_); }

    void OnDocumentStart(const YAML::Mark&) override {}
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { add(nullptr, mark); }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { refuse(mark, "aliases (*name) are not allowed"); }
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t, const std::string& value) override
    {
        // "?" is the tag of a plain scalar, "!" of a quoted one.
        if (!is_utf8(value)) refuse(mark, "the text is not UTF-8");
        const bool is_key = !open_.empty() && open_.back().value.is_object() && !open_.back().has_key;
        if (tag == "?" && !is_key)
            add(plain_scalar(value), mark);
        else
            add(value, mark);
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override
    {
        open(Json::array(), mark);
    }
    void OnSequenceEnd() override { close(); }
    void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override
    {
        open(Json::object(), mark);
    }
    void OnMapEnd() override { close(); }

  private:
    struct Open {
        Json value;
        bool has_key = false;
        std::string key{};
        YAML::Mark mark{};
    };

    [[noreturn]] static void refuse(const YAML::Mark& mark, const std::string& why)
    {
        throw YAML::ParserException(mark, why);
    }

    void open(Json value, const YAML::Mark& mark)
    {
        if (open_.size() >= max_depth_) refuse(mark, "nested deeper than " + std::to_string(max_depth_) + " levels");
        if (!open_.empty() && open_.back().value.is_object() && !open_.back().has_key)
            refuse(mark, "a key must be a plain word");
        Open level{std::move(value)};
        level.mark = mark;
        open_.push_back(std::move(level));
    }

    void close()
    {
        Open done = std::move(open_.back());
        open_.pop_back();
        add(std::move(done.value), done.mark);
    }

    void add(Json value, const YAML::Mark& mark)
    {
        if (open_.empty()) {
            root_ = std::move(value);
            return;
        }
        Open& parent = open_.back();
        if (parent.value.is_array()) {
            parent.value.push_back(std::move(value));
        } else if (!parent.has_key) {
            if (!value.is_string()) refuse(mark, "a key must be a plain word");
            parent.key = value.get<std::string>();
            parent.has_key = true;
            if (parent.value.contains(parent.key)) refuse(mark, "the key \"" + parent.key + "\" is duplicated");
        } else {
            parent.value[parent.key] = std::move(value);
            parent.has_key = false;
        }
    }

    std::size_t max_depth_;
    std::vector<Open> open_;
    Json root_;
};

} // namespace

Result<Json> parse_yaml(std::string_view text, JsonLimits limits)
{
    if (text.size() > limits.max_bytes)
        return Error{Errc::kTooLarge, "larger than " + std::to_string(limits.max_bytes) + " bytes"};
    try {
        std::istringstream stream{std::string(text)};
        YAML::Parser parser(stream);
        JsonBuilder builder(limits.max_depth);
        if (!parser.HandleNextDocument(builder)) return Error{Errc::kInvalid, "the document is empty"};
        return builder.take();
    } catch (const YAML::Exception& e) {
        return Error{Errc::kInvalid, "not valid YAML: line " + std::to_string(e.mark.line + 1) + ", column " +
                                         std::to_string(e.mark.column + 1) + ": " + e.msg};
    }
}

} // namespace fathom
