# SPDX-License-Identifier: Apache-2.0
# Registers test binaries with ctest: one entry for each test file and kind of test in it, with the kind as its label.
# Kinds are tags of Catch2: [unit] [golden] [conformance] [cli] [slow] [gpu]; scripts/check_layers.py checks that each case has one.
set(ORDO_TEST_KINDS unit golden conformance cli slow gpu)

function(ordo_test_binary folder)
  set(binary test_${folder})
  add_executable(${binary} ${ARGN})
  # A layer's tests see that layer and tests/support; those of the program see everything.
  if(TARGET ordo_${folder} AND NOT folder STREQUAL "cuda")
    target_link_libraries(${binary} PRIVATE ordo_test_support ordo_${folder})
  else()
    target_link_libraries(${binary} PRIVATE ordo_test_support ordo_train)
  endif()
  if(NOT folder MATCHES "^(core|config|cli)$")
    ordo_use_torch(${binary})
  endif()
  target_compile_definitions(${binary} PRIVATE ORDO_SOURCE_DIR="${CMAKE_SOURCE_DIR}" ORDO_BINARY_DIR="${CMAKE_BINARY_DIR}")
  foreach(file ${ARGN})
    get_filename_component(unit "${file}" NAME_WE)
    file(READ "${file}" text)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
    foreach(kind ${ORDO_TEST_KINDS})
      if(text MATCHES "\\[${kind}\\]")
        set(name "${folder}/${unit}:${kind}")
        add_test(NAME "${name}" COMMAND ${binary} --filenames-as-tags --warn NoTests "[#${unit}][${kind}]")
        set_tests_properties("${name}" PROPERTIES LABELS "${kind}" TIMEOUT 600
          ENVIRONMENT "OMP_NUM_THREADS=1;OMP_WAIT_POLICY=passive")
      endif()
    endforeach()
  endforeach()
endfunction()
