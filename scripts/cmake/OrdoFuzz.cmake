# SPDX-License-Identifier: Apache-2.0
# Fuzz targets, with clang only: cmake -DORDO_FUZZ=ON -DCMAKE_CXX_COMPILER=clang++ …, then ./fuzz_config [corpus folder].
option(ORDO_FUZZ "build the fuzz targets (clang)" OFF)

# ordo_fuzz(NAME LAYERS … LIBRARIES …): the layers under test are compiled anew, so that the fuzzer sees their branches.
function(ordo_fuzz name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LAYERS;LIBRARIES")
  set(sources "${CMAKE_SOURCE_DIR}/tests/fuzz/${name}_fuzz.cpp")
  foreach(layer ${arg_LAYERS})
    file(GLOB of_layer CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/ordo/${layer}/*.cpp")
    list(APPEND sources ${of_layer})
  endforeach()
  add_executable(fuzz_${name} ${sources})
  target_include_directories(fuzz_${name} PRIVATE "${CMAKE_SOURCE_DIR}/src" "${CMAKE_SOURCE_DIR}/tests")
  target_compile_options(fuzz_${name} PRIVATE -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined)
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer,address,undefined)
  target_link_libraries(fuzz_${name} PRIVATE fmt::fmt spdlog::spdlog nlohmann_json::nlohmann_json xxHash::xxhash ${arg_LIBRARIES})
endfunction()

if(ORDO_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "ORDO_FUZZ needs clang (-DCMAKE_CXX_COMPILER=clang++); this is ${CMAKE_CXX_COMPILER_ID}")
  endif()
  ordo_fuzz(config LAYERS core config LIBRARIES yaml-cpp)
  ordo_fuzz(tokenizer LAYERS core tokenizers LIBRARIES PCRE2::8bit utf8proc::utf8proc SentencePiece::sentencepiece)
endif()
