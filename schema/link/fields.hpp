#pragma once

#include "core/base/secret.hpp"
#include "schema/link/read_fields.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fathom::link {

// A message is declared once (declaration.hpp): its fields in order, each with its name and bounds. A declaration is a
// template over these two classes, which have the same functions: one writes the fields and the other reads them. What
// a field is on the wire where its value is empty:
//
//     text             always written; to be read it must be there
//     text_or_empty    always written; one that is not there is read as empty
//     text_if_any      written where it is not empty; one that is not there is read as empty
//     optional_text    written where there is one
//
// and likewise for the others. What core/model writes and reads itself goes by json(), and by reader() and errors(),
// each in its branch of `if constexpr (Fields::kReads)`.

using TextRule = ObjectReader::StringRule;

/// Writes the fields of a message, or of an object in one.
class FieldWriter {
  public:
    static constexpr bool kReads = false;

    explicit FieldWriter(Json& json) : json_(&json) {}

    /// What is written.
    Json& json() { return *json_; }

    template <class Id>
    void id(const char* name, const Id& value)
    {
        (*json_)[name] = value.value;
    }
    void ids(const char* name, const std::vector<AttemptId>& values)
    {
        Json& array = (*json_)[name] = Json::array();
        for (const AttemptId& one : values)
            array.push_back(one.value);
    }

    void text(const char* name, const std::string& value, const TextRule&) { (*json_)[name] = value; }
    void text_or_empty(const char* name, const std::string& value, const TextRule&) { (*json_)[name] = value; }
    void text_if_any(const char* name, const std::string& value, const TextRule&)
    {
        if (!value.empty()) (*json_)[name] = value;
    }
    void optional_text(const char* name, const std::optional<std::string>& value, const TextRule&)
    {
        if (value) (*json_)[name] = *value;
    }

    void integer(const char* name, std::int64_t value, std::int64_t, std::int64_t) { (*json_)[name] = value; }
    void integer_if_any(const char* name, std::int64_t value, std::int64_t)
    {
        if (value > 0) (*json_)[name] = value;
    }
    void optional_integer(const char* name, const std::optional<std::int64_t>& value, std::int64_t, std::int64_t)
    {
        if (value) (*json_)[name] = *value;
    }

    void number(const char* name, double value, double, double) { (*json_)[name] = value; }
    void number_or_zero(const char* name, double value, double) { (*json_)[name] = value; }

    void flag(const char* name, bool value) { (*json_)[name] = value; }
    void flag_if_set(const char* name, bool value)
    {
        if (value) (*json_)[name] = true;
    }

    void time(const char* name, Timestamp value) { (*json_)[name] = format_rfc3339(value); }
    void optional_time(const char* name, const std::optional<Timestamp>& value)
    {
        if (value) (*json_)[name] = format_rfc3339(*value);
    }

    void numbers(const char* name, const std::vector<std::int64_t>& values) { (*json_)[name] = values; }
    void strings(const char* name, const std::vector<std::string>& values, std::size_t, const TextRule&)
    {
        (*json_)[name] = values;
    }
    void strings_if_any(const char* name, const std::vector<std::string>& values, std::size_t, const TextRule&)
    {
        if (!values.empty()) (*json_)[name] = values;
    }
    void optional_strings(const char* name, const std::optional<std::vector<std::string>>& values, std::size_t,
                          const TextRule&)
    {
        if (values) (*json_)[name] = *values;
    }
    void text_map(const char* name, const std::map<std::string, std::string>& values) { (*json_)[name] = values; }

    /// Base64 on the wire.
    void bytes(const char* name, const std::string& data, std::size_t) { (*json_)[name] = base64_encode(data); }

    /// An array of objects.
    /// @param declare  the fields of one: declare(fields, item)
    template <class Item, class Declare>
    void items(const char* name, const std::vector<Item>& values, std::size_t, Declare declare)
    {
        Json array = Json::array();
        for (const Item& value : values)
            array.push_back(written(value, declare));
        (*json_)[name] = std::move(array);
    }

    /// An object that is written where `is_there` says so, and read where there is one.
    template <class Value, class Declare>
    void object_if(const char* name, bool is_there, const Value& value, Declare declare)
    {
        if (is_there) (*json_)[name] = written(value, declare);
    }
    template <class Value, class Declare>
    void optional_object(const char* name, const std::optional<Value>& value, Declare declare)
    {
        if (value) (*json_)[name] = written(*value, declare);
    }
    /// Fields beside the others, which are all there where the one called `name` is.
    template <class Value, class Declare>
    void optional_fields(const char*, const std::optional<Value>& value, Declare declare)
    {
        if (value) declare(*this, *value);
    }

    void catalog(const Catalog& value) { (*json_)["catalog"] = to_json(value); }
    void error_if_any(const char* name, const std::optional<Error>& error, const ToldErrorRule&)
    {
        if (error) (*json_)[name] = {{"code", to_string(error->code)}, {"detail", error->detail}};
    }
    /// JSON that is passed on as it is.
    void json_array(const char* name, const Json& array, std::size_t) { (*json_)[name] = array; }
    void json_object_if_any(const char* name, const Json& object)
    {
        if (!object.is_null()) (*json_)[name] = object;
    }

    /// A rule that no bounds of a field say: else the message is refused with `detail`.
    void require(bool, const char*, const char*) {}
    /// An array that must be there though it may be empty.
    void require_there(const char*) {}

  private:
    template <class Value, class Declare>
    static Json written(const Value& value, Declare& declare)
    {
        Json json = Json::object();
        FieldWriter fields(json);
        declare(fields, value);
        return json;
    }

    Json* json_;
};

/// Reads them, and notes what is wrong as ObjectReader does.
class FieldReader {
  public:
    static constexpr bool kReads = true;

    FieldReader(ObjectReader& reader, std::vector<FieldError>& errors) : reader_(&reader), errors_(&errors) {}

    ObjectReader& reader() { return *reader_; }
    std::vector<FieldError>& errors() { return *errors_; }

    template <class Id>
    void id(const char* name, Id& value)
    {
        value = read_id<Id>(*reader_, name);
    }
    void ids(const char* name, std::vector<AttemptId>& values) { values = read_attempt_ids(*reader_, name); }

    void text(const char* name, std::string& value, const TextRule& rule)
    {
        value = reader_->required_string(name, rule);
    }
    void text_or_empty(const char* name, std::string& value, const TextRule& rule)
    {
        value = reader_->optional_string(name, rule).value_or("");
    }
    void text_if_any(const char* name, std::string& value, const TextRule& rule) { text_or_empty(name, value, rule); }
    void optional_text(const char* name, std::optional<std::string>& value, const TextRule& rule)
    {
        value = reader_->optional_string(name, rule);
    }

    void integer(const char* name, std::int64_t& value, std::int64_t min, std::int64_t max)
    {
        value = reader_->required_integer(name, min, max);
    }
    void integer_if_any(const char* name, std::int64_t& value, std::int64_t max)
    {
        value = reader_->optional_integer(name, 0, max).value_or(0);
    }
    void optional_integer(const char* name, std::optional<std::int64_t>& value, std::int64_t min, std::int64_t max)
    {
        value = reader_->optional_integer(name, min, max);
    }

    void number(const char* name, double& value, double min, double max)
    {
        value = reader_->required_number(name, min, max);
    }
    void number_or_zero(const char* name, double& value, double max)
    {
        value = reader_->optional_number(name, 0, max).value_or(0);
    }

    void flag(const char* name, bool& value) { value = reader_->optional_boolean(name).value_or(false); }
    void flag_if_set(const char* name, bool& value) { flag(name, value); }

    void time(const char* name, Timestamp& value) { value = read_time(*reader_, name); }
    void optional_time(const char* name, std::optional<Timestamp>& value) { value = reader_->optional_time(name); }

    void numbers(const char* name, std::vector<std::int64_t>& values) { values = read_numbers(*reader_, name); }
    void strings(const char* name, std::vector<std::string>& values, std::size_t max_items, const TextRule& rule)
    {
        values = reader_->strings(name, max_items, rule);
    }
    void strings_if_any(const char* name, std::vector<std::string>& values, std::size_t max_items, const TextRule& rule)
    {
        strings(name, values, max_items, rule);
    }
    void optional_strings(const char* name, std::optional<std::vector<std::string>>& values, std::size_t max_items,
                          const TextRule& rule)
    {
        if (reader_->has(name)) values = reader_->strings(name, max_items, rule);
    }
    void text_map(const char* name, std::map<std::string, std::string>& values)
    {
        values = read_text_map(*reader_, name);
    }

    void bytes(const char* name, std::string& data, std::size_t max_bytes)
    {
        data = read_bytes(*reader_, name, max_bytes);
    }

    template <class Item, class Declare>
    void items(const char* name, std::vector<Item>& values, std::size_t max_items, Declare declare)
    {
        const Json* array = reader_->array(name, 0, max_items);
        for (std::size_t i = 0; array != nullptr && i < array->size(); ++i)
            read((*array)[i], reader_->path_of(name) + "[" + std::to_string(i) + "]", values.emplace_back(), declare);
    }

    template <class Value, class Declare>
    void object_if(const char* name, bool, Value& value, Declare declare)
    {
        if (const Json* json = reader_->object(name)) read(*json, reader_->path_of(name), value, declare);
    }

    template <class Value, class Declare>
    void optional_object(const char* name, std::optional<Value>& value, Declare declare)
    {
        if (const Json* json = reader_->object(name)) read(*json, reader_->path_of(name), value.emplace(), declare);
    }
    template <class Value, class Declare>
    void optional_fields(const char* name, std::optional<Value>& value, Declare declare)
    {
        if (reader_->has(name)) declare(*this, value.emplace());
    }

    void catalog(Catalog& value) { value = read_catalog(*reader_, *errors_); }
    void error_if_any(const char* name, std::optional<Error>& error, const ToldErrorRule& rule)
    {
        error = read_told_error(*reader_, name, rule, *errors_);
    }
    void json_array(const char* name, Json& array, std::size_t max_items)
    {
        if (const Json* json = reader_->array(name, 0, max_items)) array = *json;
    }
    void json_object_if_any(const char* name, Json& object)
    {
        if (const Json* json = reader_->object(name)) object = *json;
    }

    void require(bool is_so, const char* name, const char* detail)
    {
        if (!is_so) reader_->fail(name, detail);
    }
    void require_there(const char* name)
    {
        if (!reader_->has(name)) reader_->fail(name, "is required");
    }

  private:
    template <class Value, class Declare>
    void read(const Json& json, std::string path, Value& value, Declare& declare)
    {
        ObjectReader item(json, std::move(path), *errors_);
        FieldReader fields(item, *errors_);
        declare(fields, value);
    }

    ObjectReader* reader_;
    std::vector<FieldError>* errors_;
};

} // namespace fathom::link
