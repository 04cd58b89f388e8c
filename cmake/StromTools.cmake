# Command-line tools: tools/<tool>/, one folder each, on top of the frame in tools/cli.

# Tools, their manual pages and their completions, which they print themselves, go where users' shells look for them:
# below CMAKE_INSTALL_PREFIX, by default /usr/local.
set(strom_zsh_dir zsh/site-functions)
if(CMAKE_INSTALL_PREFIX STREQUAL /usr AND EXISTS /etc/debian_version)
  set(strom_zsh_dir zsh/vendor-completions)
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
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(FILES ${pages}/${name}.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${pages}/${name}.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME ${name})
  install(FILES ${pages}/_${name} DESTINATION ${CMAKE_INSTALL_DATADIR}/${strom_zsh_dir})
  install(FILES ${pages}/${name}.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endfunction()
