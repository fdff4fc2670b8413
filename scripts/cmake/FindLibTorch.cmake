# SPDX-License-Identifier: Apache-2.0
# Finds LibTorch in a Python wheel or an unpacked zip, without the wheel's own CMake package (which demands nvcc).
# Looks at Torch_DIR (…/share/cmake/Torch), then the environment's LIBTORCH, then the repository's .venv, then a torch found by python3.
# Gives LibTorch::LibTorch (torch_cpu, c10, the wheel's OpenMP) and LibTorch_ROOT.
set(_ordo_torch_hints)
if(Torch_DIR)
  list(APPEND _ordo_torch_hints "${Torch_DIR}/../../..")
elseif(DEFINED ENV{Torch_DIR})
  list(APPEND _ordo_torch_hints "$ENV{Torch_DIR}/../../..")
endif()
if(DEFINED ENV{LIBTORCH})
  list(APPEND _ordo_torch_hints "$ENV{LIBTORCH}")
endif()
file(GLOB _ordo_venv_torch "${CMAKE_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch")
list(APPEND _ordo_torch_hints ${_ordo_venv_torch})
if(NOT _ordo_torch_hints)
  execute_process(COMMAND python3 -c "import os, importlib.util as u; s = u.find_spec('torch'); print(os.path.dirname(s.origin) if s else '')"
    OUTPUT_VARIABLE _ordo_python_torch OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(_ordo_python_torch)
    list(APPEND _ordo_torch_hints "${_ordo_python_torch}")
  endif()
endif()
find_path(LibTorch_ROOT NAMES include/ATen/core/Tensor.h HINTS ${_ordo_torch_hints} NO_DEFAULT_PATH)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibTorch REQUIRED_VARS LibTorch_ROOT
  REASON_FAILURE_MESSAGE "run scripts/quickstart.sh, or set LIBTORCH to a folder with include/ and lib/ of LibTorch 2.11.0")
if(LibTorch_FOUND AND NOT TARGET LibTorch::LibTorch)
  foreach(_lib torch_cpu c10)
    add_library(LibTorch::${_lib} SHARED IMPORTED)
    set_target_properties(LibTorch::${_lib} PROPERTIES IMPORTED_LOCATION "${LibTorch_ROOT}/lib/lib${_lib}.so")
  endforeach()
  add_library(LibTorch::LibTorch INTERFACE IMPORTED)
  # The wheel's own libgomp: find_package(OpenMP) would bring a second one that shadows it.
  file(GLOB _ordo_gomp "${LibTorch_ROOT}/lib/libgomp*.so*")
  target_link_libraries(LibTorch::LibTorch INTERFACE LibTorch::torch_cpu LibTorch::c10 ${_ordo_gomp})
  # -idirafter: the folder carries another fmt, which must not win over the system's.
  target_compile_options(LibTorch::LibTorch INTERFACE -DAT_PER_OPERATOR_HEADERS
    "SHELL:-idirafter ${LibTorch_ROOT}/include" "SHELL:-idirafter ${LibTorch_ROOT}/include/torch/csrc/api/include")
  target_link_options(LibTorch::LibTorch INTERFACE -Wl,--allow-shlib-undefined)
endif()
