# SPDX-License-Identifier: Apache-2.0
# libordo_cuda.so, the CUDA side of Ordo. Its host part needs the headers of the CUDA runtime and LibTorch's CUDA libraries, no nvcc and no GPU:
# it is compiled and linked everywhere, and opened only where a driver is. What is missing is said, and the program is built without it.

# The layout of pip's wheels first, then a toolkit's.
find_path(ORDO_CUDA_INCLUDE NAMES crt/host_defines.h
  HINTS "${LibTorch_ROOT}/../nvidia/cu13/include" "$ENV{CUDA_HOME}/include" NO_DEFAULT_PATH DOC "headers of the CUDA runtime")
find_file(ORDO_CUDA_RUNTIME NAMES libcudart.so.13
  HINTS "${LibTorch_ROOT}/../nvidia/cu13/lib" "${LibTorch_ROOT}/lib" "$ENV{CUDA_HOME}/lib64" NO_DEFAULT_PATH DOC "the CUDA runtime")

# What the plug-in cannot be built without, in words; empty when all is there.
function(ordo_cuda_missing out)
  set(missing "")
  foreach(file libtorch_cuda.so libc10_cuda.so)
    if(NOT EXISTS "${LibTorch_ROOT}/lib/${file}")
      list(APPEND missing "${file} in LibTorch")
    endif()
  endforeach()
  if(NOT EXISTS "${ORDO_CUDA_INCLUDE}/cuda_runtime_api.h")
    list(APPEND missing "the headers of nvidia-cuda-runtime and nvidia-cuda-crt")
  endif()
  if(NOT ORDO_CUDA_RUNTIME)
    list(APPEND missing "libcudart.so.13")
  endif()
  list(JOIN missing ", " missing)
  set(${out} "${missing}" PARENT_SCOPE)
endfunction()

function(ordo_cuda_library)
  ordo_cuda_missing(missing)
  if(missing)
    message(STATUS "libordo_cuda.so is left out, missing: ${missing} (scripts/requirements-cpu.txt has them)")
    return()
  endif()
  # A machine may have a toolkit's headers where every compiler looks; an include that the small installation cannot serve would then go
  # unseen. So the compiler searches the folders named here and no others.
  set(search "${ORDO_CUDA_INCLUDE}")
  foreach(folder ${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES})
    if(NOT folder MATCHES "/usr/local/include|cuda")
      list(APPEND search "${folder}")
    endif()
  endforeach()
  list(TRANSFORM search PREPEND "SHELL:-isystem ")
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/ordo/cuda/*.cpp")
  add_library(ordo_cuda MODULE ${sources})
  target_compile_options(ordo_cuda PRIVATE -nostdinc -nostdinc++ ${search})
  target_link_libraries(ordo_cuda PRIVATE ordo_flags LibTorch::LibTorch
    "${LibTorch_ROOT}/lib/libtorch_cuda.so" "${LibTorch_ROOT}/lib/libc10_cuda.so" "${ORDO_CUDA_RUNTIME}")
  # It lies beside the program, wherever both are moved to; the libraries it needs are open by then.
  set_target_properties(ordo_cuda PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}" UNITY_BUILD OFF
    BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN")
endfunction()

# What tests/cuda runs in processes of its own, since a process opens CUDA once: a program that opens a device, a stand-in for the driver, a
# spy on LibTorch's CUDA hooks, and empty stand-ins for NVIDIA's large libraries, with which libtorch_cuda.so opens where they are not installed.
function(ordo_cuda_test_parts)
  set(tests "${CMAKE_SOURCE_DIR}/tests/cuda")
  set(parts "${CMAKE_BINARY_DIR}/cuda_parts")
  add_executable(ordo_device_child "${tests}/device_child.cpp")
  target_link_libraries(ordo_device_child PRIVATE ordo_ops)
  add_library(ordo_fake_driver MODULE "${tests}/fake_driver.cpp")
  set_target_properties(ordo_fake_driver PROPERTIES PREFIX "" OUTPUT_NAME "libcuda" SUFFIX ".so.1" LIBRARY_OUTPUT_DIRECTORY "${parts}/driver")
  add_library(ordo_hooks_spy MODULE "${tests}/hooks_spy.cpp")
  target_link_libraries(ordo_hooks_spy PRIVATE ordo_flags LibTorch::LibTorch)
  set_target_properties(ordo_hooks_spy PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${parts}")
  add_library(ordo_empty MODULE "${tests}/empty.cpp")
  set_target_properties(ordo_empty PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${parts}/stand_ins")
  foreach(name cublas.so.13 cublasLt.so.13 cudnn.so.9 cufft.so.12 cufile.so.0 curand.so.10 cusparse.so.12 cusparseLt.so.0 nccl.so.2 nvshmem_host.so.3)
    add_custom_command(TARGET ordo_empty POST_BUILD
      COMMAND ${CMAKE_COMMAND} -E create_symlink "$<TARGET_FILE_NAME:ordo_empty>" "${parts}/stand_ins/lib${name}")
  endforeach()
  set_target_properties(ordo_fake_driver ordo_hooks_spy ordo_empty ordo_device_child PROPERTIES UNITY_BUILD OFF)
  add_custom_target(ordo_cuda_test_needs DEPENDS ordo_device_child ordo_fake_driver ordo_hooks_spy ordo_empty)
  if(TARGET ordo_cuda)
    add_dependencies(ordo_cuda_test_needs ordo_cuda)
  endif()
endfunction()

ordo_cuda_library()
if(ORDO_TESTS)
  ordo_cuda_test_parts()
endif()
