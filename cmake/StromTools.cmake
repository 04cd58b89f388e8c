# Command-line tools: tools/<tool>/, one folder each, on top of the frame in tools/common.

# A tool is installed where the server's own client programs are, with its man page and its shell completions, which
# the tool itself prints.
if(STROM_POSTGRES)
  foreach(item bindir mandir sharedir)
    execute_process(COMMAND ${PG_CONFIG} --${item} OUTPUT_VARIABLE tool_${item} OUTPUT_STRIP_TRAILING_WHITESPACE
                    COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
else()
  include(GNUInstallDirs)
  set(tool_bindir ${CMAKE_INSTALL_FULL_BINDIR})
  set(tool_mandir ${CMAKE_INSTALL_FULL_MANDIR})
endif()

# strom_tool(<name> SOURCES <files> [LINK <libraries>])
function(strom_tool name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/tools)
  target_link_libraries(${name} PRIVATE strom_tool ${arg_LINK})
  if(STROM_SANITIZE OR STROM_FUZZ)
    return()
  endif()
  set(pages ${CMAKE_CURRENT_BINARY_DIR}/pages)
  file(MAKE_DIRECTORY ${pages})
  add_custom_command(OUTPUT ${pages}/${name}.1 ${pages}/${name}.bash ${pages}/_${name} ${pages}/${name}.fish
    COMMAND ${name} --man > ${pages}/${name}.1
    COMMAND ${name} --completion=bash > ${pages}/${name}.bash
    COMMAND ${name} --completion=zsh > ${pages}/_${name}
    COMMAND ${name} --completion=fish > ${pages}/${name}.fish
    DEPENDS ${name} VERBATIM)
  add_custom_target(${name}_pages ALL DEPENDS ${pages}/${name}.1)
  install(TARGETS ${name} RUNTIME DESTINATION ${tool_bindir})
  install(FILES ${pages}/${name}.1 DESTINATION ${tool_mandir}/man1)
  install(FILES ${pages}/${name}.bash DESTINATION /usr/share/bash-completion/completions RENAME ${name})
  install(FILES ${pages}/_${name} DESTINATION /usr/share/zsh/vendor-completions)
  install(FILES ${pages}/${name}.fish DESTINATION /usr/share/fish/vendor_completions.d)
endfunction()
