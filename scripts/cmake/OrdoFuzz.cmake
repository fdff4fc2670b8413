# SPDX-License-Identifier: Apache-2.0
# Fuzz targets, with clang only: cmake -DORDO_FUZZ=ON -DCMAKE_CXX_COMPILER=clang++ …, then ./fuzz_config [corpus folder].
option(ORDO_FUZZ "build the fuzz targets (clang)" OFF)
if(ORDO_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "ORDO_FUZZ needs clang (-DCMAKE_CXX_COMPILER=clang++); this is ${CMAKE_CXX_COMPILER_ID}")
  endif()
  # The layers under test are compiled anew, so that the fuzzer sees their branches.
  file(GLOB _ordo_fuzz_sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/ordo/core/*.cpp" "${CMAKE_SOURCE_DIR}/src/ordo/config/*.cpp")
  add_executable(fuzz_config "${CMAKE_SOURCE_DIR}/tests/fuzz/config_fuzz.cpp" ${_ordo_fuzz_sources})
  target_include_directories(fuzz_config PRIVATE "${CMAKE_SOURCE_DIR}/src" "${CMAKE_SOURCE_DIR}/tests")
  target_compile_options(fuzz_config PRIVATE -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined)
  target_link_options(fuzz_config PRIVATE -fsanitize=fuzzer,address,undefined)
  target_link_libraries(fuzz_config PRIVATE fmt::fmt spdlog::spdlog nlohmann_json::nlohmann_json xxHash::xxhash yaml-cpp)
endif()
