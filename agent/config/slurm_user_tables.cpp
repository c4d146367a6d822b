#include "agent/config/slurm_user_tables.hpp"

#include "core/base/id.hpp"

#include <algorithm>
#include <cctype>

namespace fathom::agent {
namespace {

constexpr std::size_t kMaxSlurmUsers = 10'000;
constexpr std::size_t kMaxNamesOfPerson = 100;
constexpr std::size_t kMaxName = 128;

/// Of what becomes part of a batch script's options.
bool is_slurm_name(const std::string& name)
{
    return std::all_of(name.begin(), name.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 || std::string_view("_-.").find(static_cast<char>(c)) != std::string_view::npos;
    });
}

std::string read_slurm_name(ObjectReader& reader, const char* name)
{
    std::string value = reader.optional_string(name, {.min_length = 1, .max_length = kMaxName}).value_or("");
    if (!is_slurm_name(value)) reader.fail(name, "may have letters, digits and _ - . only");
    return value;
}

SlurmUserRule read_slurm_user(const Json& json, const std::string& path, std::vector<FieldError>& errors)
{
    ObjectReader reader(json, path, errors);
    SlurmUserRule rule;
    rule.users = reader.strings("users", kMaxNamesOfPerson, {.min_length = 1, .max_length = kMaxName});
    rule.project = reader.optional_string("project", {.min_length = 1, .max_length = kMaxName}).value_or("");
    if (rule.users.empty() && rule.project.empty()) reader.fail("users", "or project must say whose jobs are meant");
    rule.local_user = reader.required_string("local_user", {.min_length = 1, .max_length = kMaxName});
    rule.account = read_slurm_name(reader, "account");
    rule.qos = read_slurm_name(reader, "qos");
    reader.finish(UnknownFields::kReject);
    return rule;
}

} // namespace

std::vector<SlurmUserRule> read_slurm_users(ObjectReader& reader, std::vector<FieldError>& errors)
{
    std::vector<SlurmUserRule> rules;
    const Json* items = reader.has("slurm_user") ? reader.array("slurm_user", 1, kMaxSlurmUsers) : nullptr;
    if (items == nullptr) return rules;
    for (std::size_t i = 0; i < items->size(); ++i)
        rules.push_back(read_slurm_user((*items)[i], "slurm_user[" + std::to_string(i) + "]", errors));
    return rules;
}

bool is_for(const SlurmUserRule& rule, const AttemptOwner& owner)
{
    if (owner.submitter.empty() || (!rule.project.empty() && rule.project != owner.project)) return false;
    const auto is_owner = [&](const std::string& user) {
        return user == (TokenId::parse(user) ? owner.submitter : owner.account);
    };
    return rule.users.empty() || std::any_of(rule.users.begin(), rule.users.end(), is_owner);
}

} // namespace fathom::agent
