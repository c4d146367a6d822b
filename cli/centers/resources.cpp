#include "cli/centers/resources.hpp"

#include "cli/centers/resource_document.hpp"
#include "cli/client/exit_code.hpp"
#include "cli/client/input_file.hpp"
#include "cli/client/json_view.hpp"
#include "cli/text/format_units.hpp"
#include "core/model/resources.hpp"

#include <filesystem>
#include <ostream>

namespace fathom::cli {
namespace {

struct ResourceFileOptions {
    std::string center;
    std::string file;
    std::int64_t if_version = -1; ///< of the configuration that the change is based on; -1: any
};

struct ResourceShowOptions {
    std::string center;
    bool document_only = false;
};

std::string resources_path(const std::string& center)
{
    return "/centers/" + path_segment(center) + "/resources";
}

/// How far the center is, in words.
std::string words_of_progress(const Json& resources)
{
    const std::string state = text_of(resources, "state");
    const Json& reported = member(resources, "reported");
    const std::string detail = text_of(reported, "detail", "");
    if (state == "file") return "its agent's own file says what it offers";
    if (state == "waiting") return "waiting for its agent's answer";
    if (state == "applied") return "applied: it offers all of it";
    if (state == "differs") return "applied as far as can be; the differences are below";
    if (state == "unsupported") return "its agent is older and does not take it: update the agent";
    return state + (detail.empty() ? "" : ": " + detail);
}

Cell progress_of(const Json& resources)
{
    const std::string state = text_of(resources, "state");
    const bool is_fine = state == "applied" || state == "file";
    return Cell(words_of_progress(resources), is_fine ? Tone::kGood : state == "waiting" ? Tone::kPending : Tone::kBad);
}

std::string count_or(const Json& item, const char* name, const char* absent)
{
    return number_of(item, name) ? count_of(item, name) : absent;
}

Table wanted_table(const Json& unit_types)
{
    Table table({{"UNIT TYPE"},
                 {"RESOURCE"},
                 {"UNITS", Align::kRight},
                 {"CORES", Align::kRight},
                 {"DEVICES", Align::kRight},
                 {"MEMORY", Align::kRight, 1},
                 {"SHARING", Align::kLeft, 2}});
    for (const Json& type : unit_types) {
        const std::optional<double> memory = number_of(type, "memory_bytes_per_unit");
        table.add_row({text_of(type, "name"), text_of(type, "resource_type", "cpu"),
                       count_or(type, "unit_count", "all that fit"), count_or(type, "cores_per_unit", "a NUMA node"),
                       count_or(type, "devices_per_unit", "-"), memory ? format_bytes(*memory) : "its share",
                       text_of(type, "sharing", "-")});
    }
    return table;
}

Table differences_table(const Json& differences)
{
    Table table({{"UNIT TYPE"}, {"CODE"}, {"WANTED", Align::kRight}, {"SEEN", Align::kRight}, {"WHAT"}});
    for (const Json& difference : differences) {
        const bool is_counted = number_of(difference, "wanted").value_or(0) > 0;
        table.add_row({text_of(difference, "unit_type", "-"), text_of(difference, "code"),
                       is_counted ? count_of(difference, "wanted") : "-",
                       is_counted ? count_of(difference, "seen") : "-", text_of(difference, "detail")});
    }
    return table;
}

/// The document of an answer, as people write it.
Json document_of(const Json& resources)
{
    return {{"unit_types", items_of(resources, "unit_types")}};
}

std::string resources_text(Session& session, const Json& resources)
{
    const Timestamp now = session.now();
    const Json& reported = member(resources, "reported");
    std::vector<std::pair<std::string, Cell>> details{{"Center", text_of(resources, "center")},
                                                      {"Version", text_of(resources, "version")},
                                                      {"State", progress_of(resources)}};
    if (!member(resources, "changed_at").is_null())
        details.emplace_back("Changed",
                             age_of(resources, "changed_at", now) + " by " + text_of(resources, "changed_by"));
    if (!member(reported, "reported_at").is_null())
        details.emplace_back("Agent's answer", age_of(reported, "reported_at", now) + ", on version " +
                                                   text_of(reported, "version") +
                                                   "; its file allows: " + text_of(reported, "permission"));
    std::string text = render_details(details, table_style(session));
    const TableStyle style = table_style(session);
    if (const Json& wanted = items_of(resources, "unit_types"); !wanted.empty())
        text += "\nIt is to offer\n" + wanted_table(wanted).render(style);
    if (const Json& differences = items_of(reported, "differences"); !differences.empty())
        text += "\nWhat it does not have or may not offer\n" + differences_table(differences).render(style);
    if (const Json& changes = items_of(resources, "changes"); !changes.empty()) {
        text += "\nWhat has changed in what it offers\n";
        Table table({{"WHEN", Align::kRight}, {"WHAT"}});
        for (const Json& change : changes)
            table.add_row({age_of(change, "changed_at", now), text_of(change, "change")});
        text += table.render(style);
    }
    return text;
}

Outcome show_resources(Session& session, const ResourceShowOptions& options)
{
    const Result<Json> resources = session.get(resources_path(options.center));
    if (!options.document_only)
        return print_answer(session, resources, [&](const Json& json) { return resources_text(session, json); });
    if (!resources) return resources.error();
    if (session.wants_json())
        print_json(session, document_of(*resources));
    else
        *session.console().out << write_yaml(document_of(*resources));
    return ExitCode::kOk;
}

/// The document of a file, checked here for faults that need no server.
Result<Json> read_resource_file(const std::string& path, const Console& console)
{
    Result<Json> document = read_input_file(path, console);
    if (!document) return document.error();
    if (const Result<std::vector<UnitCut>> cuts = parse_resource_document(*document); !cuts)
        return in_file(path, cuts.error());
    return document;
}

std::string told_of_change(const Json& resources, const std::string& center)
{
    return "Center " + text_of(resources, "center", center) + ", version " + text_of(resources, "version") + ": " +
           words_of_progress(resources) + "\nWhat its agent makes of it: fathom center resources show " + center + "\n";
}

std::string etag_of_version(std::int64_t version)
{
    return version < 0 ? "" : "\"" + std::to_string(version) + "\"";
}

Outcome put_document(Session& session, const std::string& center, const Json& document, std::int64_t version)
{
    return print_answer(session, session.put(resources_path(center), document, etag_of_version(version)),
                        [&](const Json& resources) { return told_of_change(resources, center); });
}

Outcome set_resources(Session& session, const ResourceFileOptions& options)
{
    const Result<Json> document = read_resource_file(options.file, session.console());
    if (!document) return document.error();
    return put_document(session, options.center, *document, options.if_version);
}

Outcome reset_resources(Session& session, const NameOptions& options)
{
    return put_document(session, options.name, {{"unit_types", Json::array()}}, -1);
}

/// As it would be stored, so that what is said in other words does not differ.
std::string canonical_yaml(const Json& document)
{
    const Result<std::vector<UnitCut>> cuts = parse_resource_document(document);
    return write_yaml(cuts ? resource_document(*cuts) : document);
}

Outcome diff_resources(Session& session, const ResourceFileOptions& options)
{
    const Result<Json> document = read_resource_file(options.file, session.console());
    if (!document) return document.error();
    const Result<Json> present = session.get(resources_path(options.center));
    if (!present) return present.error();
    const std::string difference = line_difference(canonical_yaml(document_of(*present)), canonical_yaml(*document));
    if (difference.empty())
        say(session, "The same as version " + text_of(*present, "version") + ".");
    else
        *session.console().out << difference;
    return ExitCode::kOk;
}

std::int64_t version_of(const Json& resources)
{
    return static_cast<std::int64_t>(number_of(resources, "version").value_or(0));
}

Outcome edit_resources(Session& session, const NameOptions& options)
{
    const Result<Json> present = session.get(resources_path(options.name));
    if (!present) return present.error();
    const std::string before = write_yaml(document_of(*present));
    const Result<std::string> path =
        write_temporary_file(session.console(), "# What center " + options.name +
                                                    " is to offer: docs/guides/center-resources.md\n" + before);
    if (!path) return path.error();
    if (const Result<void> edited = run_editor(session.console(), *path); !edited) return edited.error();
    const Result<Json> document = read_resource_file(*path, session.console()); // the file stays when it has faults
    if (!document) return document.error();
    if (canonical_yaml(*document) == canonical_yaml(document_of(*present))) {
        std::filesystem::remove(*path);
        say(session, "Nothing was changed.");
        return ExitCode::kOk;
    }
    Outcome put = put_document(session, options.name, *document, version_of(*present));
    if (put)
        std::filesystem::remove(*path);
    else
        say(session, "What you wrote is still in " + *path);
    return put;
}

} // namespace

void add_center_resource_commands(CLI::App& center, Invocation& invocation)
{
    CLI::App& noun = add_noun(center, "resources", "What a center is to offer, and how far it does");
    auto shown = std::make_shared<ResourceShowOptions>();
    CLI::App& show =
        add_verb(noun, "show", "What it is to offer, what it lacks of that, and what has changed by itself",
                 "fathom center resources show alpha");
    add_required(show, "CENTER", shown->center, "Name or id of the center");
    show.add_flag("--document", shown->document_only, "Only the document, to be changed and given to `set`");
    on_chosen(show, invocation, std::move(shown), show_resources);

    const auto add_with_file = [&](const char* verb, const char* description, auto action) -> auto& {
        auto options = std::make_shared<ResourceFileOptions>();
        CLI::App& command =
            add_verb(noun, verb, description, "fathom center resources " + std::string(verb) + " alpha alpha.yaml");
        add_required(command, "CENTER", options->center, "Name or id of the center");
        add_required(command, "FILE", options->file, "YAML or JSON; -: standard input");
        if (action == set_resources)
            command.add_option("--if-version", options->if_version, "Only if this is still the version")
                ->check(CLI::NonNegativeNumber);
        on_chosen(command, invocation, std::move(options), action);
        return command;
    };
    add_with_file("set", "Say what it is to offer, all unit types at once", set_resources);
    add_with_file("diff", "What a file would change; what is so already has two spaces in front", diff_resources);

    const auto add_with_name = [&](const char* verb, const char* description, auto action) {
        auto options = std::make_shared<NameOptions>();
        CLI::App& command =
            add_verb(noun, verb, description, "fathom center resources " + std::string(verb) + " alpha");
        add_required(command, "CENTER", options->name, "Name or id of the center");
        on_chosen(command, invocation, std::move(options), action);
    };
    add_with_name("edit", "Change it in your editor ($VISUAL or $EDITOR)", edit_resources);
    add_with_name("reset", "Let it offer again what its agent's own file says", reset_resources);
}

} // namespace fathom::cli
