# CUDA sources compiled for emulation: nvcc makes objects that hold PTX and no machine code, and the fake runtime of
# test/cuda_emulation, linked instead of libcudart, interprets that PTX. enable_language(CUDA) is not used: CMake 3.25
# knows neither nvcc's C++20 nor CUDA 13's packages, and nothing of it is needed here.
#
# STROM_CUDA_ROOT: a CUDA 13.0 toolkit (bin/nvcc, include/); by default the one of scripts/cuda_toolkit.sh.

set(STROM_CUDA_ROOT "${CMAKE_SOURCE_DIR}/.strom/cuda" CACHE PATH "CUDA 13.0 toolkit")
if(STROM_CUDA_EMULATION AND NOT EXISTS ${STROM_CUDA_ROOT}/bin/nvcc)
  message(FATAL_ERROR "STROM_CUDA_EMULATION needs nvcc: run scripts/cuda_toolkit.sh, or set STROM_CUDA_ROOT")
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
