#include "agent/executor/run_order.hpp"

#include "schema/link/messages.hpp"

namespace fathom::agent {

Json to_json(const BatchPlace& place)
{
    Json json = {{"partition", place.partition},
                 {"constraint", place.constraint},
                 {"cpus_per_unit", place.cpus_per_unit},
                 {"units_per_node", place.units_per_node},
                 {"memory_bytes_per_unit", place.memory_bytes_per_unit}};
    if (place.units_per_switch != 0) json["units_per_switch"] = place.units_per_switch;
    if (place.devices_per_unit != 0) {
        json["devices_per_unit"] = place.devices_per_unit;
        json["devices"] = place.devices;
    }
    return json;
}

Result<BatchPlace> read_batch_place(const Json& json)
{
    try {
        return BatchPlace{.partition = json.at("partition").get<std::string>(),
                          .constraint = json.at("constraint").get<std::string>(),
                          .cpus_per_unit = json.at("cpus_per_unit").get<std::int64_t>(),
                          .units_per_node = json.at("units_per_node").get<std::int64_t>(),
                          .units_per_switch = json.value("units_per_switch", std::int64_t{0}),
                          .memory_bytes_per_unit = json.at("memory_bytes_per_unit").get<std::int64_t>(),
                          .devices_per_unit = json.value("devices_per_unit", std::int64_t{0}),
                          .devices = json.value("devices", std::string())};
    } catch (const Json::exception& e) {
        return Error{Errc::kInvalid, std::string("not a place of a batch system: ") + e.what()};
    }
}

Json to_json(const RunOrder& run)
{
    Json json = {{"start", link::encode(link::make_message(link::StartAttempt{run.order}))},
                 {"cpus", run.cpus},
                 {"cores", run.cores},
                 {"memory_bytes", run.memory_bytes},
                 {"environment", run.environment}};
    if (run.place) json["place"] = to_json(*run.place);
    if (!run.hidden_files.empty()) json["hidden_files"] = run.hidden_files;
    if (!run.library.empty()) json["library"] = run.library;
    if (!run.before.empty()) json["before"] = run.before;
    return json;
}

Result<RunOrder> read_run_order(const Json& json)
{
    // Our own words: a type error in them can only be damage, so one message for all of them will do.
    try {
        auto decoded = link::decode(json.at("start").get<std::string>());
        if (const auto* failure = std::get_if<link::DecodeFailure>(&decoded))
            return Error{Errc::kInvalid, describe(failure->error)};
        RunOrder run;
        run.order = std::get<link::StartAttempt>(std::get<link::Message>(decoded).body).order;
        run.cpus = json.at("cpus").get<std::vector<std::int64_t>>();
        run.cores = json.at("cores").get<std::int64_t>();
        run.memory_bytes = json.at("memory_bytes").get<std::int64_t>();
        run.environment = json.at("environment").get<std::map<std::string, std::string>>();
        run.hidden_files = json.value("hidden_files", std::vector<std::string>()); // older agents knew none
        run.library = json.value("library", std::string());                        // nor this one
        run.before = json.value("before", std::vector<std::string>());             // nor this one
        if (!json.contains("place")) return run;
        Result<BatchPlace> place = read_batch_place(json.at("place"));
        if (!place) return place.error();
        run.place = std::move(*place);
        return run;
    } catch (const std::exception& e) {
        return Error{Errc::kInvalid, e.what()};
    }
}

} // namespace fathom::agent
