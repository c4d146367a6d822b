#include "core/model/export_file.hpp"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(ExportFile, ItsNameSaysWhatIsInIt)
{
    EXPECT_EQ(export_file_name("focus", {"2026-11", "", "materials"}), "focus-2026-11-materials.csv");
    EXPECT_EQ(export_file_name("ledger", {}), "ledger.jsonl");
    EXPECT_EQ(export_file_name("apel", {"2026-11"}), "apel-2026-11.txt");
}

TEST(ExportFile, ItsNameIsNeverAPath)
{
    EXPECT_EQ(export_file_name("focus", {"../../etc/x y\n$(z)"}), "focus-.._.._etc_x_y___z_.csv");
    EXPECT_EQ(export_file_name("focus", {"数学"}), "focus-数学.csv");
}

TEST(ExportFile, ItsManifestLetsItBeChecked)
{
    ExportFile file;
    file.name = "ledger.jsonl";
    file.format = "ledger";
    file.size_bytes = 5;
    file.sha256 = "ab";
    file.written_at = parse_rfc3339("2026-11-03T05:00:00Z").value();

    const Json manifest = export_manifest(file);

    EXPECT_EQ(manifest["file"], "ledger.jsonl");
    EXPECT_EQ(manifest["bytes"], 5);
    EXPECT_EQ(manifest["sha256"], "ab");
    EXPECT_EQ(manifest["parameters"], Json::object());
    EXPECT_EQ(manifest["written_at"], format_rfc3339(file.written_at));
    EXPECT_EQ(manifest_name(file.name), "ledger.jsonl.manifest.json");
}

} // namespace
} // namespace fathom
