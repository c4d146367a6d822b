# Writes OUTPUT: a C++ file that holds all files below FOLDER, with their packed forms (NAME.gz) beside them. Folders that
# begin with a dot are the build's own.
cmake_policy(VERSION 3.25)
file(GLOB_RECURSE paths RELATIVE ${FOLDER} ${FOLDER}/*)
list(FILTER paths EXCLUDE REGEX "\\.gz$|^\\.")
list(SORT paths)
set(data "")
set(names "")
set(rows "")
set(number 0)
foreach(path ${paths})
  set(value_ "{}")
  set(value_.gz "{}")
  foreach(ending "" .gz)
    set(file ${FOLDER}/${path}${ending})
    if(EXISTS ${file})
      string(MAKE_C_IDENTIFIER "console_file_${number}${ending}" name)
      # The assembler reads the file: a literal of megabytes would take the compiler long.
      string(APPEND data "asm(\".section .rodata,\\\"a\\\",@progbits\\n.global ${name}\\n${name}:\\n.incbin \\\"${file}\\\"\\n\"\n")
      string(APPEND data "    \".global ${name}_end\\n${name}_end:\\n.byte 0\\n.previous\\n\");\n")
      string(APPEND names "extern const char ${name}[];\nextern const char ${name}_end[];\n")
      set(value_${ending} "std::string_view(${name}, ${name}_end)")
    endif()
  endforeach()
  string(APPEND rows "        {\"${path}\", ${value_}, ${value_.gz}},\n")
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
