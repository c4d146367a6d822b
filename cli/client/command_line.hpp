#pragma once

#include "cli/client/session.hpp"
#include "cli/text/table.hpp"

#include <CLI/CLI.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fathom::cli {

/// What the command line asks for, filled while it is parsed.
struct Invocation {
    std::function<Outcome(Session&)> action; ///< of the chosen command
    std::vector<std::string> program;        ///< everything after `--`
    bool has_program = false;                ///< there was a `--`
    bool takes_program = false;              ///< the chosen command knows what to do with it
};

/// A group of commands, `fathom center`.
CLI::App& add_noun(CLI::App& app, const std::string& name, const std::string& description);

/// A command, `fathom center list`, with an example for its --help.
CLI::App& add_verb(CLI::App& noun, const std::string& name, const std::string& description, const std::string& example);

/// Runs `run(session, *options)` when the command was chosen.
template <class Options>
void on_chosen(CLI::App& verb, Invocation& invocation, std::shared_ptr<Options> options,
               Outcome (*run)(Session&, const Options&))
{
    verb.callback([&invocation, options, run] {
        invocation.action = [options, run](Session& session) { return run(session, *options); };
    });
}

/// What --help says of a command.
struct VerbText {
    std::string name;
    std::string description;
    std::string example;
};

/// A command with options of its own, which `add_options` declares.
template <class Options>
void add_verb_with(CLI::App& noun, Invocation& invocation, const VerbText& text,
                   void (*add_options)(CLI::App& verb, Options& options), Outcome (*run)(Session&, const Options&))
{
    auto options = std::make_shared<Options>();
    CLI::App& verb = add_verb(noun, text.name, text.description, text.example);
    add_options(verb, *options);
    on_chosen(verb, invocation, std::move(options), run);
}

/// A positional argument that must be there and not empty.
void add_required(CLI::App& verb, const std::string& name, std::string& value, const std::string& description);

/// The options of every list.
struct ListOptions {
    std::optional<std::int64_t> limit;
};
void add_list_options(CLI::App& verb, ListOptions& options);

/// `list`, with the options of every list.
void add_list_verb(CLI::App& noun, Invocation& invocation, const std::string& description, const std::string& example,
                   Outcome (*run)(Session&, const ListOptions&));

/// For commands with one positional argument.
struct NameOptions {
    std::string name;
};

/// What --help says of an argument.
struct ArgumentText {
    std::string name; ///< "CENTER"
    std::string description;
};

/// A command that takes a name and nothing else.
void add_named_verb(CLI::App& noun, Invocation& invocation, const VerbText& verb, const ArgumentText& argument,
                    Outcome (*run)(Session&, const NameOptions&));

// What commands print. In JSON it is the server's answer; in tables it is for people.

TableStyle table_style(Session& session);

/// How a list is shown to people.
struct ListView {
    std::string path;
    Query query;
    std::function<Table(const Json& items, Timestamp now)> table;
    std::string when_empty;                    ///< said on standard error, with a way out
    std::optional<std::int64_t> table_limit{}; ///< unless --limit is given
};
Outcome print_list(Session& session, const ListView& view, const ListOptions& options);

/// Prints the answer, as JSON or what `render` makes of it.
Outcome print_answer(Session& session, const Result<Json>& answer,
                     const std::function<std::string(const Json&)>& render);

/// JSON on standard output, indented, with a line end.
void print_json(Session& session, const Json& json);

/// A line for people on standard error.
void say(Session& session, const std::string& line);

/// Writes a secret, the answer's `field`, to a file that only its owner can read, or to standard output when there is
/// no file. In JSON the answer is printed too, without the secret when a file holds it.
Outcome deliver_secret(Session& session, Json answer, const std::string& output_file, const char* field = "token");

} // namespace fathom::cli
