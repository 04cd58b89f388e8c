# A layer is one folder of src/, one static library and one include path. The include path of a layer is a folder
# that holds nothing but a link to it, and comes only with a dependency on the layer, so that a header of a layer
# that is not depended on cannot be found.

# strom_layer(<name> SOURCES <files> [DEPENDS <layers>] [LINK <libraries>])
function(strom_layer name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS;LINK" ${ARGN})
  set(include_dir ${CMAKE_BINARY_DIR}/include/${name})
  file(MAKE_DIRECTORY ${include_dir})
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/src/${name} ${include_dir}/${name} SYMBOLIC)
  if(arg_SOURCES)
    add_library(strom_${name} STATIC ${arg_SOURCES})
    set(scope PUBLIC)
  else()
    add_library(strom_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(strom_${name} ${scope} ${include_dir})
  list(TRANSFORM arg_DEPENDS PREPEND strom_)
  target_link_libraries(strom_${name} ${scope} ${arg_DEPENDS} ${arg_LINK})
endfunction()

# strom_unit_test(<name> SOURCES <files> LINK <libraries>): a GoogleTest program, registered with ctest.
function(strom_unit_test name)
  if(NOT STROM_TESTS)
    return()
  endif()
  find_package(GTest REQUIRED)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LINK} GTest::gtest GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
endfunction()
