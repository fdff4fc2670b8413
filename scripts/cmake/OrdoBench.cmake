# SPDX-License-Identifier: Apache-2.0
# Measurements, built on request only: `cmake --build build --target bench_attention`.
function(ordo_bench name layer)
  add_executable(bench_${name} EXCLUDE_FROM_ALL "${CMAKE_SOURCE_DIR}/tests/bench/${name}_bench.cpp")
  target_link_libraries(bench_${name} PRIVATE ordo_${layer})
  ordo_use_torch(bench_${name})
endfunction()
if(ORDO_TESTS AND TARGET ordo_attention)
  ordo_bench(attention attention)
  ordo_bench(tokenizer data)
endif()
