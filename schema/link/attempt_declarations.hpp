#pragma once

#include "schema/link/declaration.hpp"
#include "schema/link/told_cause.hpp"
#include "schema/link/told_outcome.hpp"

#include <type_traits>

// The messages about attempts: orders, and what comes of them.
namespace fathom::link {

template <>
struct Declaration<StartAttempt> {
    static constexpr std::string_view kType = "start_attempt";
    static constexpr bool kNeedsAck = true;

    template <class Fields, class Self>
    static void declare(Fields& fields, Self& start)
    {
        auto& order = start.order;
        auto& [attempt_id, job_id, name, label, unit_type, center_chooses, unit_count, center_counts, is_exclusive,
               operators, command, script, environment, files, inputs, software, outputs, wall_limit_s, profile,
               known_operators, kernel_class, gpu_kind, gpu_pairs, turn_pairs, owner] = order;
        fields.id("attempt_id", attempt_id);
        fields.id("job_id", job_id);
        fields.text("name", name, {.max_length = 200});
        fields.text("label", label, {.one_of = {"job", "probe"}});
        fields.text("unit_type", unit_type, name_rule());
        fields.integer("unit_count", unit_count, 1, 1'000'000);
        fields.flag("center_chooses", center_chooses);
        fields.flag("center_counts", center_counts);
        fields.flag_if_set("exclusive", is_exclusive);
        declare_sharing(fields, order);
        fields.items("operators", operators, kMaxOperators, DeclareNeed{});
        fields.flag("profile", profile);
        fields.strings_if_any("known_operators", known_operators, kMaxLibraryOperators,
                              {.min_length = 1, .max_length = 64});
        declare_program(fields, order);
        declare_surroundings(fields, order);
        fields.integer("wall_limit_s", wall_limit_s, 1, 31'536'000);
        // Older servers tell none.
        fields.object_if("owner", !owner.submitter.empty(), owner, [](auto& of, auto& told) {
            auto& [submitter, account, project] = told;
            of.text("submitter", submitter, name_rule());
            of.text_if_any("account", account, {.max_length = 128});
            of.text("project", project, {.max_length = 128});
        });
    }

  private:
    /// What its neighbours on a GPU are chosen by.
    template <class Fields, class Self>
    static void declare_sharing(Fields& fields, Self& order)
    {
        if constexpr (Fields::kReads) {
            std::string name; // a class that a newer server has is none that is known here
            fields.text_or_empty("gpu_class", name, {.max_length = 32});
            order.kernel_class = parse_kernel_class(name).value_or(KernelClass::kUnknown);
            order.gpu_pairs = read_gpu_pairs(fields.reader(), "gpu_pairs", fields.errors());
            order.turn_pairs = read_gpu_pairs(fields.reader(), "turn_pairs", fields.errors());
        } else {
            if (order.kernel_class != KernelClass::kUnknown) fields.json()["gpu_class"] = to_string(order.kernel_class);
            for (const GpuPair& pair : order.gpu_pairs)
                fields.json()["gpu_pairs"].push_back(to_json(pair));
            for (const GpuPair& pair : order.turn_pairs)
                fields.json()["turn_pairs"].push_back(to_json(pair));
        }
        fields.text_if_any("gpu_kind", order.gpu_kind, {.max_length = kMaxGpuKind});
    }

    template <class Fields, class Self>
    static void declare_program(Fields& fields, Self& order)
    {
        fields.strings_if_any("command", order.command, 1000, {.max_length = 65536});
        if (Fields::kReads || order.command.empty())
            fields.text_or_empty("script", order.script, {.max_length = 1UL << 20U});
        fields.require(order.command.empty() != order.script.empty(), "command",
                       "either a command or a script is needed");
        fields.text_map("environment", order.environment);
        fields.text_map("files", order.files);
    }

    /// Its data, and what it needs of its center's software.
    template <class Fields, class Self>
    static void declare_surroundings(Fields& fields, Self& order)
    {
        if constexpr (Fields::kReads) {
            order.inputs = parse_job_inputs(fields.reader(), fields.errors());
            order.software = parse_job_software(fields.reader(), fields.errors());
            order.outputs = parse_job_outputs(fields.reader(), fields.errors());
        } else {
            add_json(fields.json(), order.software);
            if (!order.inputs.empty()) fields.json()["inputs"] = to_json(order.inputs);
            if (!order.outputs.empty()) fields.json()["outputs"] = to_json(order.outputs);
        }
    }
};

template <>
struct Declaration<CancelAttempt> {
    static constexpr std::string_view kType = "cancel_attempt";
    static constexpr bool kNeedsAck = true;

    template <class Fields, class Self>
    static void declare(Fields& fields, Self& cancel)
    {
        auto& [attempt_id, reason] = cancel;
        fields.id("attempt_id", attempt_id);
        fields.text_or_empty("reason", reason, {.max_length = kMaxReason});
    }
};

template <>
struct Declaration<RecallAttempt> {
    static constexpr std::string_view kType = "recall_attempt";
    static constexpr bool kNeedsAck = true;

    template <class Fields, class Self>
    static void declare(Fields& fields, Self& recall)
    {
        auto& [attempt_id, reason] = recall;
        fields.id("attempt_id", attempt_id);
        fields.text_or_empty("reason", reason, {.max_length = kMaxReason});
    }
};

template <>
struct Declaration<AttemptStarted> {
    static constexpr std::string_view kType = "attempt_started";
    static constexpr bool kNeedsAck = true;

    template <class Fields, class Self>
    static void declare(Fields& fields, Self& started)
    {
        auto& [attempt_id, started_at, cpus, units, unit_type, able_unit_types, neighbours] = started;
        fields.id("attempt_id", attempt_id);
        fields.time("started_at", started_at);
        fields.numbers("cpus", cpus);
        fields.numbers("units", units);
        fields.text_or_empty("unit_type", unit_type, {.max_length = 128});
        fields.strings("able_unit_types", able_unit_types, kMaxUnitTypes, name_rule());
        fields.optional_object("neighbours", neighbours, [](auto& of, auto& told) {
            if constexpr (std::decay_t<decltype(of)>::kReads)
                told = read_device_neighbours(of.reader());
            else
                of.json() = to_json(told);
        });
    }
};

template <>
struct Declaration<QueueReport> {
    static constexpr std::string_view kType = "queue_report";
    static constexpr bool kNeedsAck = true;

    template <class Fields, class Self>
    static void declare(Fields& fields, Self& report)
    {
        auto& [attempts, unit_types] = report;
        fields.items("attempts", attempts, kMaxQueuedAttempts, [](auto& of, auto& attempt) {
            auto& [attempt_id, reason, expected_start] = attempt;
            of.id("attempt_id", attempt_id);
            of.text("reason", reason, {.max_length = kMaxQueueReason});
            of.optional_time("expected_start", expected_start);
        });
        fields.items("unit_types", unit_types, kMaxUnitTypes, [](auto& of, auto& type) {
            auto& [unit_type, expected_start] = type;
            of.text("unit_type", unit_type, name_rule());
            of.optional_time("expected_start", expected_start);
        });
        fields.require(!attempts.empty() || !unit_types.empty(), "attempts", "or unit_types must say something");
    }
};

template <>
struct Declaration<AttemptOutput> {
    static constexpr std::string_view kType = "attempt_output";
    static constexpr bool kNeedsAck = true;

    template <class Fields, class Self>
    static void declare(Fields& fields, Self& output)
    {
        auto& [attempt_id, stream, offset_bytes, data] = output;
        fields.id("attempt_id", attempt_id);
        fields.text("stream", stream, {.one_of = {"stdout", "stderr"}});
        fields.integer("offset_bytes", offset_bytes, 0, kMaxBytes);
        fields.bytes("data_base64", data, kMaxOutputBytes);
    }
};

template <>
struct Declaration<AttemptEnded> {
    static constexpr std::string_view kType = "attempt_ended";
    static constexpr bool kNeedsAck = true;

    template <class Fields, class Self>
    static void declare(Fields& fields, Self& ended)
    {
        auto& end = ended.end;
        auto& [attempt_id, outcome, exit_code, signal, cause, detail, started_at, ended_at, run_s, cpu_s,
               max_resident_bytes, nodes, energy_j, stdout_bytes, stderr_bytes, profile, outputs, staging] = end;
        fields.id("attempt_id", attempt_id);
        if constexpr (Fields::kReads)
            read_outcome(fields.reader(), end);
        else
            write_outcome(fields.json(), end);
        fields.optional_integer("exit_code", exit_code, 0, 255);
        if constexpr (Fields::kReads)
            cause = read_cause(fields.reader(), end);
        else if (may_have_cause(end))
            fields.json()["cause"] = to_string(cause);
        fields.optional_integer("signal", signal, 1, 64);
        fields.optional_time("started_at", started_at);
        fields.time("ended_at", ended_at);
        declare_use(fields, end);
        fields.json_object_if_any("profile", profile);
        declare_data(fields, end);
    }

  private:
    template <class Fields, class Self>
    static void declare_use(Fields& fields, Self& end)
    {
        fields.number("run_s", end.run_s, 0, 1e9);
        fields.number("cpu_s", end.cpu_s, 0, 1e12);
        fields.integer("max_resident_bytes", end.max_resident_bytes, 0, kMaxBytes);
        fields.text_if_any("nodes", end.nodes, {.max_length = kMaxNodesBytes});
        fields.integer_if_any("energy_j", end.energy_j, kMaxEnergy_j);
        fields.integer("stdout_bytes", end.stdout_bytes, 0, kMaxBytes);
        fields.integer("stderr_bytes", end.stderr_bytes, 0, kMaxBytes);
    }

    template <class Fields, class Self>
    static void declare_data(Fields& fields, Self& end)
    {
        if constexpr (Fields::kReads) {
            end.outputs = parse_stored_outputs(fields.reader(), fields.errors());
            end.staging = parse_staging_use(fields.reader(), fields.errors());
        } else {
            if (!end.outputs.empty()) fields.json()["outputs"] = to_json(end.outputs);
            if (end.staging) fields.json()["staging"] = to_json(*end.staging);
        }
    }
};

} // namespace fathom::link
