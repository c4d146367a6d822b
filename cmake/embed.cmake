# Writes OUTPUT: a C++ file holding FILES (relative to BASE) as string literals, bytes escaped.
list(SORT FILES)
string(REPEAT "[0-9a-f]" 64 line_pattern)
set(body "")
foreach(file ${FILES})
  file(READ ${BASE}/${file} hex HEX)
  string(LENGTH "${hex}" hex_length)
  math(EXPR size_bytes "${hex_length} / 2")
  # 32 bytes a literal: adjacent literals are joined by the compiler.
  string(REGEX REPLACE "(${line_pattern})" "\\1\n" lines "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" lines "${lines}")
  string(REGEX REPLACE "([^\n]+)" "        \"\\1\"" lines "${lines}")
  string(APPEND body "    {\"${file}\", std::string_view(\"\"\n${lines}, ${size_bytes})},\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"core/base/embedded_file.hpp\"

namespace ${NAMESPACE} {
namespace {
constexpr fathom::EmbeddedFile kFiles[] = {
${body}};
} // namespace
std::span<const fathom::EmbeddedFile> embedded_files();
std::span<const fathom::EmbeddedFile> embedded_files()
{
    return kFiles;
}
} // namespace ${NAMESPACE}
")
