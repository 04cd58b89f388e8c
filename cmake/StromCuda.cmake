# CUDA sources, compiled for devices and for emulation. For emulation nvcc makes objects that hold PTX and no machine code, and the fake runtime of
# test/cuda_emulation, linked instead of libcudart, interprets that PTX. enable_language(CUDA) is not used: CMake 3.25
# knows neither nvcc's C++20 nor CUDA 13's packages, and nothing of it is needed here.
#
# STROM_CUDA_ROOT: a CUDA 13.0 toolkit (bin/nvcc, include/); by default the one of scripts/cuda_toolkit.sh.

set(STROM_CUDA_ROOT "${CMAKE_SOURCE_DIR}/.strom/cuda" CACHE PATH "CUDA 13.0 toolkit")
set(STROM_CUDA_ARCHITECTURES 75 80 86 89 90 100 120 CACHE STRING "what the CUDA module has machine code for; PTX is the last one's")
# More registers leave room for fewer blocks at a time; of 64 nearly all functions spill nothing but what they save for
# their callers.
set(STROM_CUDA_REGISTERS 64 CACHE STRING "registers of a thread of the tile kernel")
mark_as_advanced(STROM_CUDA_REGISTERS)
if((STROM_CUDA OR STROM_CUDA_EMULATION) AND NOT EXISTS ${STROM_CUDA_ROOT}/bin/nvcc)
  message(FATAL_ERROR "the CUDA kernels need nvcc: run scripts/cuda_toolkit.sh, or set STROM_CUDA_ROOT")
endif()

# Products and sums are rounded one by one, as on the CPU.
set(STROM_CUDA_LANGUAGE --expt-relaxed-constexpr --fmad=false CACHE INTERNAL "options of nvcc")

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
              ${STROM_CUDA_LANGUAGE} -gencode arch=compute_90,code=compute_90 -Xfatbin=-compress=false
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

# strom_cuda_object(<variable> <name> <file.cu> LAYERS <layers> [DEFINITIONS <definitions>]): an object with relocatable
# machine code of STROM_CUDA_ARCHITECTURES, and PTX of the last one; its path is appended to the variable.
function(strom_cuda_object variable name source)
  cmake_parse_arguments(arg "" "" "LAYERS;DEFINITIONS" ${ARGN})
  list(TRANSFORM arg_LAYERS PREPEND -I${CMAKE_BINARY_DIR}/include/ OUTPUT_VARIABLE includes)
  list(TRANSFORM arg_DEFINITIONS PREPEND -D OUTPUT_VARIABLE definitions)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}_cuda.o)
  strom_cuda_codes(codes TRUE)
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${STROM_CUDA_ROOT}/bin/nvcc -std=c++20 -O3 -Xcompiler=-fPIC,-O2,-fvisibility=hidden ${STROM_CUDA_LANGUAGE}
            -rdc=true --maxrregcount=${STROM_CUDA_REGISTERS} ${codes} -Xfatbin=-compress-all ${includes} ${definitions}
            -MD -MF ${object}.d -c ${source} -o ${object}
    DEPENDS ${source}
    DEPFILE ${object}.d
    COMMENT "Compiling ${name} for CUDA ${STROM_CUDA_ARCHITECTURES}"
    VERBATIM)
  set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  list(APPEND ${variable} ${object})
  set(${variable} ${${variable}} PARENT_SCOPE)
endfunction()

# strom_cuda_link(<object> <objects>): what the device linker makes of objects with relocatable code.
function(strom_cuda_link linked)
  strom_cuda_codes(codes FALSE)
  add_custom_command(
    OUTPUT ${linked}
    COMMAND ${STROM_CUDA_ROOT}/bin/nvcc -dlink -Xcompiler=-fPIC ${codes} -Xfatbin=-compress-all ${ARGN} -o ${linked}
    DEPENDS ${ARGN}
    COMMENT "Linking the CUDA kernel"
    VERBATIM)
  set_source_files_properties(${linked} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
endfunction()

function(strom_cuda_codes variable with_ptx)
  foreach(architecture ${STROM_CUDA_ARCHITECTURES})
    list(APPEND codes -gencode arch=compute_${architecture},code=sm_${architecture})
  endforeach()
  if(with_ptx)
    list(GET STROM_CUDA_ARCHITECTURES -1 architecture)
    list(APPEND codes -gencode arch=compute_${architecture},code=compute_${architecture})
  endif()
  set(${variable} ${codes} PARENT_SCOPE)
endfunction()
