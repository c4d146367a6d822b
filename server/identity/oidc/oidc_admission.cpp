#include "server/identity/oidc/oidc_admission.hpp"

#include "core/base/secret.hpp"
#include "server/identity/account_service.hpp"
#include "server/identity/account_store.hpp"
#include "server/identity/api_credential.hpp"
#include "server/identity/audit.hpp"
#include "server/identity/oidc/oidc_store.hpp"
#include "server/identity/session_store.hpp"
#include "server/store/notifier.hpp"

namespace fathom::server {
namespace {

using Why = OidcRefusal::Why;

constexpr std::size_t kMaxAuditedGroups = 50;

/// One sign-in, step by step.
class Admitting {
  public:
    Admitting(pqxx::work& transaction, const OidcSettings& settings, const Person& person,
              const std::string& request_id)
        : transaction_(&transaction), settings_(&settings), person_(&person), request_id_(&request_id)
    {
    }

    OidcAdmission run()
    {
        lock_admin_tokens(*transaction_); // two first sign-ins of one person make one account
        const std::optional<LinkedAccount> account =
            find_linked_account(*transaction_, settings_->issuer, person_->subject);
        if (account && account->is_disabled) return refuse(Why::kDisabled, account->principal.name);
        const std::optional<GroupRole> found = find_role(settings_->roles, person_->groups);
        if (!found) {
            if (account) sign_out_everywhere(account->principal);
            OidcAdmission refused = refuse(Why::kNoGroup, account ? account->principal.name : person_->name);
            refused.has_changed = account.has_value();
            return refused;
        }
        return account ? renew(account->principal, *found) : make(*found);
    }

  private:
    Json detail_of(const GroupRole& found) const
    {
        return {{"issuer", settings_->issuer},
                {"subject", person_->subject},
                {"role", std::string(to_string(found.role))},
                {"group", found.group}};
    }

    OidcAdmission refuse(Why why, const std::string& name) const
    {
        Json groups = Json::array();
        for (const std::string& group : person_->groups)
            if (groups.size() < kMaxAuditedGroups) groups.push_back(group);
        audit(*transaction_, "oidc", "session.refuse", name.empty() ? person_->subject : name, *request_id_,
              {{"issuer", settings_->issuer},
               {"subject", person_->subject},
               {"reason", std::string(to_string(why))},
               {"groups", std::move(groups)}});
        OidcAdmission admission;
        admission.refusal = OidcRefusal{why, "subject " + person_->subject, name, person_->groups};
        return admission;
    }

    void sign_out_everywhere(const Principal& account) const
    {
        remove_web_sessions_of(*transaction_, account.name, "");
        notify(*transaction_, "identity", "");
    }

    OidcAdmission renew(Principal account, const GroupRole& found) const
    {
        const bool is_other = account.role != found.role;
        if (is_other) {
            set_account_role(*transaction_, account.name, found.role);
            audit(*transaction_, account.token_id.value, "account.change", account.name, *request_id_,
                  detail_of(found));
            notify(*transaction_, "identity", "");
            account.role = found.role;
        }
        return {std::nullopt, std::move(account), detail_of(found), is_other};
    }

    OidcAdmission make(const GroupRole& found) const
    {
        const std::string& name = person_->name;
        if (!is_account_name(name)) return refuse(Why::kNameUnfit, name);
        if (is_name_taken(*transaction_, name)) return refuse(Why::kNameTaken, name);
        const NewAccount account{.name = name,
                                 .token_id = TokenId::make().value,
                                 .secret_sha256 = sha256_hex(new_secret(kApiSecretPrefix)),
                                 .password_hash = {},
                                 .issuer = settings_->issuer,
                                 .subject = person_->subject,
                                 .role = found.role,
                                 .created_by = "oidc"};
        insert_account(*transaction_, account);
        audit(*transaction_, account.token_id, "account.create", name, *request_id_, detail_of(found));
        return {std::nullopt, Principal{TokenId{account.token_id}, name, found.role}, detail_of(found), false};
    }

    pqxx::work* transaction_;
    const OidcSettings* settings_;
    const Person* person_;
    const std::string* request_id_;
};

} // namespace

OidcAdmission admit_person(pqxx::work& transaction, const OidcSettings& settings, const Person& person,
                           const std::string& request_id)
{
    return Admitting(transaction, settings, person, request_id).run();
}

} // namespace fathom::server
