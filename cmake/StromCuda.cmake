# CUDA sources, compiled for devices and for emulation. For emulation nvcc makes objects that hold PTX and no machine code, and the fake runtime of
# test/cuda_emulation, linked instead of libcudart, interprets that PTX. enable_language(CUDA) is not used: CMake 3.25
# knows neither nvcc's C++20 nor CUDA 13's packages, and nothing of it is needed here.
#
# STROM_CUDA_ROOT: a CUDA 13.0 toolkit (bin/nvcc, include/); by default the one of scripts/cuda_toolkit.sh.

set(STROM_CUDA_ROOT "${CMAKE_SOURCE_DIR}/.strom/cuda" CACHE PATH "CUDA 13.0 toolkit")
set(STROM_CUDA_ARCHITECTURES 75 80 86 89 90 100 120 CACHE STRING "what the CUDA module has machine code for; PTX is the last one's")
if((STROM_CUDA OR STROM_CUDA_EMULATION) AND NOT EXISTS ${STROM_CUDA_ROOT}/bin/nvcc)
  message(FATAL_ERROR "the CUDA kernels need nvcc: run scripts/cuda_toolkit.sh, or set STROM_CUDA_ROOT")
endif()

# strom_cuda_emulated(<name> SOURCES <files.cu> [LINK <libraries>]): a static library of the kernels and the host code
# of the files. Include paths and definitions come from LINK and from the target itself, as for any library. Only with
# STROM_CUDA_EMULATION; the names of further host sources (.cpp) may stand among SOURCES.
function(strom_cuda_emulated name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  set(includes "$<TARGET_PROPERTY:${name},INCLUDE_DIRECTORIES>")
  set(definitions "$<TARGET_PROPERTY:${name},COMPILE_DEFINITIONS>")
  set(objects)
  set(host_sources)
  foreach(source ${arg_SOURCES})
    if(NOT source MATCHES "\\.cu$")
      list(APPEND host_sources ${source})
      continue()
    endif()
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE OUTPUT_VARIABLE path)
    cmake_path(GET source STEM stem)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}_${stem}_ptx.o)
    add_custom_command(
      OUTPUT ${object}
      COMMAND ${STROM_CUDA_ROOT}/bin/nvcc -std=c++20 -O3 -Xcompiler=-fPIC,-O2
              --expt-relaxed-constexpr -gencode arch=compute_90,code=compute_90 -Xfatbin=-compress=false
              "$<$<BOOL:${includes}>:-I$<JOIN:${includes},;-I>>"
              "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},;-D>>"
              -MD -MF ${object}.d -c ${path} -o ${object}
      DEPENDS ${path}
      DEPFILE ${object}.d
      COMMENT "Compiling ${source} to PTX"
      COMMAND_EXPAND_LISTS VERBATIM)
    list(APPEND objects ${object})
  endforeach()
  set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  add_library(${name} STATIC ${objects} ${host_sources})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(${name} PUBLIC ${arg_LINK} strom_fake_cudart)
endfunction()

# strom_cuda_objects(<variable> <files.cu> LAYERS <layers>): objects with machine code of STROM_CUDA_ARCHITECTURES, listed in
# the variable.
function(strom_cuda_objects variable)
  cmake_parse_arguments(arg "" "" "LAYERS" ${ARGN})
  list(TRANSFORM arg_LAYERS PREPEND -I${CMAKE_BINARY_DIR}/include/ OUTPUT_VARIABLE includes)
  foreach(architecture ${STROM_CUDA_ARCHITECTURES})
    list(APPEND codes -gencode arch=compute_${architecture},code=sm_${architecture})
  endforeach()
  list(APPEND codes -gencode arch=compute_${architecture},code=compute_${architecture})
  set(objects)
  foreach(path ${arg_UNPARSED_ARGUMENTS})
    cmake_path(GET path STEM stem)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${stem}_cuda.o)
    add_custom_command(
      OUTPUT ${object}
      COMMAND ${STROM_CUDA_ROOT}/bin/nvcc -std=c++20 -O3 -Xcompiler=-fPIC,-O2,-fvisibility=hidden --expt-relaxed-constexpr
              ${codes} --threads 2 -Xfatbin=-compress-all ${includes} -MD -MF ${object}.d -c ${path} -o ${object}
      DEPENDS ${path}
      DEPFILE ${object}.d
      COMMENT "Compiling ${stem}.cu for ${STROM_CUDA_ARCHITECTURES}"
      VERBATIM)
    list(APPEND objects ${object})
  endforeach()
  set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  set(${variable} ${objects} PARENT_SCOPE)
endfunction()
