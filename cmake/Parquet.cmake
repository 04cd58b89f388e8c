# Libraries of the Parquet module: Apache Arrow's C++ libraries, as packages have them (libarrow-dev and
# libparquet-dev) or as Python's pyarrow brings them along. Sets STROM_PARQUET_FOUND and makes the target
# strom_libparquet.
#
# STROM_PARQUET: AUTO builds the module where the libraries are found, ON insists, OFF leaves it out.
# STROM_PYARROW: folder of an installed pyarrow, used where there are no packages. The installed module finds its
# libraries beside itself, and in that folder.
# STROM_PYARROW_RUNPATH: OFF leaves the folder out, so that the server loads no library from a folder of a user's.
set(STROM_PARQUET AUTO CACHE STRING "build the Parquet module: AUTO, ON or OFF")
set_property(CACHE STROM_PARQUET PROPERTY STRINGS AUTO ON OFF)
set(STROM_PYARROW "" CACHE PATH "folder of pyarrow, with include/ and libparquet.so.*")
option(STROM_PYARROW_RUNPATH "the installed Parquet module uses the libraries in STROM_PYARROW" ON)
set(STROM_PARQUET_FOUND FALSE)
set(oldest_arrow 24)

function(strom_parquet_from_pyarrow)
  file(GLOB libparquet ${STROM_PYARROW}/libparquet.so.*)
  file(GLOB libarrow ${STROM_PYARROW}/libarrow.so.*)
  set(config ${STROM_PYARROW}/include/arrow/util/config.h)
  if(NOT EXISTS "${libparquet}" OR NOT EXISTS "${libarrow}" OR NOT EXISTS ${config})
    return()
  endif()
  file(STRINGS ${config} version REGEX "define ARROW_VERSION_MAJOR")
  string(REGEX MATCH "[0-9]+" version "${version}")
  if(version LESS oldest_arrow)
    message(STATUS "Parquet: ${STROM_PYARROW} is of version ${version}, ${oldest_arrow} is needed")
    return()
  endif()
  target_include_directories(strom_libparquet SYSTEM INTERFACE ${STROM_PYARROW}/include)
  target_link_libraries(strom_libparquet INTERFACE ${libparquet} ${libarrow})
  set(STROM_PARQUET_FOUND TRUE PARENT_SCOPE)
  set(STROM_PARQUET_RPATH ${STROM_PYARROW} PARENT_SCOPE)
  message(STATUS "Parquet: Apache Arrow ${version} of ${STROM_PYARROW}")
  if(STROM_PYARROW_RUNPATH AND NOT STROM_PYARROW MATCHES "^/usr/")
    message(WARNING "The server will load Parquet's libraries from ${STROM_PYARROW}. The folder has to stay. Whoever "
                    "may write to it, or replace a folder above it, can run code as the server's user.")
  endif()
endfunction()

# Libraries that are not sanitized themselves would report errors that are not ours. Programs for fuzzing take the
# module in.
if(NOT STROM_PARQUET STREQUAL OFF AND NOT STROM_SANITIZE)
  add_library(strom_libparquet INTERFACE)
  find_package(Arrow ${oldest_arrow} CONFIG QUIET)
  find_package(Parquet ${oldest_arrow} CONFIG QUIET)
  if(Parquet_FOUND)
    target_link_libraries(strom_libparquet INTERFACE Parquet::parquet_shared Arrow::arrow_shared)
    set(STROM_PARQUET_FOUND TRUE)
    message(STATUS "Parquet: Apache Arrow ${Parquet_VERSION}")
  elseif(STROM_PYARROW)
    strom_parquet_from_pyarrow()
  endif()
  if(NOT STROM_PARQUET_FOUND AND STROM_PARQUET STREQUAL ON)
    message(FATAL_ERROR "STROM_PARQUET=ON needs libarrow-dev and libparquet-dev, version ${oldest_arrow} or later, or "
                        "STROM_PYARROW=/folder/of/pyarrow")
  endif()
  if(NOT STROM_PARQUET_FOUND)
    message(STATUS "Parquet: not built, no Apache Arrow found")
  endif()
endif()
