# Writes OUTPUT: a C++ file that holds all files below FOLDER, with their packed forms (NAME.gz) beside them.
file(GLOB_RECURSE paths RELATIVE ${FOLDER} ${FOLDER}/*)
list(FILTER paths EXCLUDE REGEX "\\.gz$")
list(SORT paths)
set(data "")
set(names "")
set(rows "")
set(number 0)
foreach(path ${paths})
  set(gzip "{}")
  foreach(kind content gzip)
    set(file ${FOLDER}/${path})
    if(kind STREQUAL gzip)
      set(file ${file}.gz)
    endif()
    if(EXISTS ${file})
      set(name console_file_${number}_${kind})
      # The assembler reads the file: a literal of megabytes would take the compiler long.
      string(APPEND data "asm(\".section .rodata,\\\"a\\\",@progbits\\n.global ${name}\\n${name}:\\n.incbin \\\"${file}\\\"\\n\"\n")
      string(APPEND data "    \".global ${name}_end\\n${name}_end:\\n.byte 0\\n.previous\\n\");\n")
      string(APPEND names "extern const char ${name}[];\nextern const char ${name}_end[];\n")
      set(${kind} "std::string_view(${name}, ${name}_end)")
    endif()
  endforeach()
  string(APPEND rows "        {\"${path}\", ${content}, ${gzip}},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUTPUT} "#include \"server/console/console_files.hpp\"

${data}
extern \"C\" {
${names}}

std::span<const fathom::server::ConsoleFile> fathom::server::console_files()
{
    static const ConsoleFile kFiles[] = {
${rows}    };
    return kFiles;
}
")
