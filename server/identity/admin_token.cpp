#include "server/identity/admin_token.hpp"

#include "core/base/log.hpp"
#include "core/base/secret.hpp"
#include "server/identity/audit.hpp"
#include "server/identity/identity_service.hpp"
#include "server/identity/identity_store.hpp"
#include "server/store/log_after_commit.hpp"

namespace fathom::server {
namespace {

constexpr const char* kHowToReplace =
    "use another admin token; or, if all are lost, run UPDATE api_token SET revoked_at = now() WHERE role = 'admin'"
    " AND revoked_at IS NULL in the database and start fathomd again: it then makes a new one";

/// The file's secret, empty when there is no file.
Result<std::string> read_secret(const AdminTokenFile& file)
{
    const Result<std::string> content = file.read();
    if (!content) {
        if (content.error().code == Errc::kNotFound) return std::string();
        return Error{Errc::kUnavailable, content.error().detail};
    }
    std::string secret = *content;
    while (!secret.empty() && (secret.back() == '\n' || secret.back() == '\r'))
        secret.pop_back();
    if (!is_api_secret(secret))
        return Error{Errc::kInvalid, file.path.string() + " does not hold an API token; move it away and start again"};
    return secret;
}

/// Nobody can administrate yet: the file's secret becomes the admin token.
Result<void> create(pqxx::work& transaction, const AdminTokenFile& file, std::string secret)
{
    if (secret.empty()) {
        secret = new_secret(kApiSecretPrefix);
        // Before COMMIT: after a crash in between, the next start finds and accepts the file. The other
        // order would leave a token that nobody has.
        if (Result<void> written = file.write(secret + "\n"); !written) return written;
    }
    const TokenRow row = insert_token(transaction, {.id = TokenId::make().value,
                                                    .name = "admin (first start)",
                                                    .secret_sha256 = sha256_hex(secret),
                                                    .role = Role::kAdmin,
                                                    .created_by = "fathomd",
                                                    .valid_s = std::nullopt});
    audit(transaction, "fathomd", "token.bootstrap", row.id, "", Json::object());
    log_after_commit(LogLevel::kInfo, "admin_token_created", {{"file", file.path.string()}, {"token_id", row.id}});
    return {};
}

/// There are admin tokens; is the file's one of them?
void report(pqxx::work& transaction, const std::filesystem::path& path, const std::string& secret)
{
    if (secret.empty()) {
        log_info("admin_token_elsewhere", {{"file", path.string()},
                                           {"reason", "admin tokens exist; this state folder has none (made by another "
                                                      "replica, or the file was removed)"},
                                           {"to_get_one", kHowToReplace}});
    } else if (!find_usable_token(transaction, sha256_hex(secret))) {
        log_warning("admin_token_unknown",
                    {{"file", path.string()},
                     {"reason", "the token in the file is revoked, expired or of another database"},
                     {"what_to_do", kHowToReplace}});
    }
}

} // namespace

Result<void> ensure_admin_token(Database& database, const AdminTokenFile& file)
{
    const auto work = [&](pqxx::work& transaction) -> Result<void> {
        lock_admin_tokens(transaction);
        const Result<std::string> secret = read_secret(file);
        if (!secret) return secret.error();
        if (count_usable_admin_tokens(transaction) == 0) return create(transaction, file, *secret);
        report(transaction, file.path, *secret);
        return {};
    };
    return database.blocking_run(work);
}

} // namespace fathom::server
