#include "cli/client/command_line.hpp"

#include "core/base/file.hpp"

#include <ostream>

namespace fathom::cli {

CLI::App& add_noun(CLI::App& app, const std::string& name, const std::string& description)
{
    CLI::App& noun = *app.add_subcommand(name, description);
    noun.require_subcommand(1);
    noun.fallthrough();
    return noun;
}

CLI::App& add_verb(CLI::App& noun, const std::string& name, const std::string& description, const std::string& example)
{
    CLI::App& verb = *noun.add_subcommand(name, description);
    verb.fallthrough();
    verb.footer("\nExample:\n  " + example + "\n\nOptions of every command (--url, --output, …): fathom --help");
    return verb;
}

void add_required(CLI::App& verb, const std::string& name, std::string& value, const std::string& description)
{
    verb.add_option(name, value, description)->required()->check([](const std::string& text) {
        return text.empty() ? std::string("must not be empty") : std::string();
    });
}

void add_list_options(CLI::App& verb, ListOptions& options)
{
    verb.add_option("--limit", options.limit, "Show at most so many")->check(CLI::Range(1, 100'000'000));
}

void add_list_verb(CLI::App& noun, Invocation& invocation, const std::string& description, const std::string& example,
                   Outcome (*run)(Session&, const ListOptions&))
{
    auto options = std::make_shared<ListOptions>();
    CLI::App& verb = add_verb(noun, "list", description, example);
    add_list_options(verb, *options);
    on_chosen(verb, invocation, std::move(options), run);
}

void add_named_verb(CLI::App& noun, Invocation& invocation, const VerbText& verb, const ArgumentText& argument,
                    Outcome (*run)(Session&, const NameOptions&))
{
    auto options = std::make_shared<NameOptions>();
    CLI::App& added = add_verb(noun, verb.name, verb.description, verb.example);
    add_required(added, argument.name, options->name, argument.description);
    on_chosen(added, invocation, std::move(options), run);
}

TableStyle table_style(Session& session)
{
    return {.width = session.console().width, .colour = session.console().colour};
}

void print_json(Session& session, const Json& json)
{
    *session.console().out << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
}

void say(Session& session, const std::string& line)
{
    *session.console().err << line << "\n" << std::flush;
}

Outcome print_list(Session& session, const ListView& view, const ListOptions& options)
{
    std::optional<std::int64_t> limit = options.limit;
    if (!limit && !session.wants_json()) limit = view.table_limit;
    const Result<Session::List> list = session.list(view.path, view.query, limit);
    if (!list) return list.error();
    if (session.wants_json()) {
        print_json(session, list->json);
        return ExitCode::kOk;
    }
    const Table table = view.table(list->json["items"], session.now());
    if (table.empty()) {
        say(session, view.when_empty);
        return ExitCode::kOk;
    }
    *session.console().out << table.render(table_style(session));
    if (list->has_more && !options.limit)
        say(session, "The newest " + std::to_string(*limit) + " are shown; --limit N shows more.");
    return ExitCode::kOk;
}

Outcome print_answer(Session& session, const Result<Json>& answer,
                     const std::function<std::string(const Json&)>& render)
{
    if (!answer) return answer.error();
    if (session.wants_json())
        print_json(session, *answer);
    else
        *session.console().out << render(*answer);
    return ExitCode::kOk;
}

Outcome deliver_secret(Session& session, Json answer, const std::string& output_file, const char* field)
{
    const auto found = answer.find(field);
    if (found == answer.end() || !found->is_string())
        return Error{Errc::kInternal, "the answer holds no " + std::string(field)};
    const std::string secret = found->get<std::string>();
    if (!output_file.empty()) {
        if (const Result<void> written = write_file(output_file, secret + "\n", 0600); !written)
            return Error{Errc::kInvalid, "cannot write " + output_file + ": " + written.error().detail};
        answer.erase(found);
    }
    if (session.wants_json())
        print_json(session, answer);
    else if (output_file.empty())
        *session.console().out << secret << "\n";
    return ExitCode::kOk;
}

} // namespace fathom::cli
