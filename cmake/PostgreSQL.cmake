# PostgreSQL to build for, as PG_CONFIG describes it, and strom_postgres_module() for shared objects that it loads.
foreach(item version includedir-server pkglibdir sharedir)
  execute_process(COMMAND ${PG_CONFIG} --${item} OUTPUT_VARIABLE pg_${item} OUTPUT_STRIP_TRAILING_WHITESPACE
                  COMMAND_ERROR_IS_FATAL ANY)
endforeach()
string(REGEX MATCH "[0-9]+" pg_major "${pg_version}")
if(pg_major LESS 15)
  message(FATAL_ERROR "PostgreSQL 15 or later is needed, ${PG_CONFIG} is of ${pg_version}")
endif()
message(STATUS "${pg_version}: ${PG_CONFIG}")

# Headers and flags of code that includes postgres.h. Only functions marked PGDLLEXPORT leave the shared object;
# PostgreSQL 15's own definition of that macro is empty.
add_library(strom_postgres INTERFACE)
target_include_directories(strom_postgres SYSTEM INTERFACE ${pg_includedir-server})
target_compile_definitions(strom_postgres INTERFACE _GNU_SOURCE "PGDLLEXPORT=__attribute__((visibility(\"default\")))")
target_compile_options(strom_postgres INTERFACE -fwrapv -Wno-register)

# strom_postgres_module(<target> OUTPUT <name> SOURCES <files> LINK <libraries>): <name>.so for LOAD and CREATE FUNCTION.
function(strom_postgres_module target)
  cmake_parse_arguments(arg "" "OUTPUT" "SOURCES;LINK" ${ARGN})
  add_library(${target} MODULE ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE ${arg_LINK})
  # Symbols must not meet those of other extensions, or of PostgreSQL's own LLVM.
  target_link_options(${target} PRIVATE -Wl,--exclude-libs,ALL
                      -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/postgres_module.map)
  set_target_properties(${target} PROPERTIES PREFIX "" SUFFIX ".so" OUTPUT_NAME ${arg_OUTPUT})
endfunction()
