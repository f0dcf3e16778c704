# Runs a program of coroutine shapes that some compilers get wrong (g++ 12.2: temporaries destroyed twice) and
# refuses a compiler that fails it. The verdict is cached per compiler path and version.
set(canary ${CMAKE_CURRENT_LIST_DIR}/compiler_canary.cpp)
set(verdict_key "${CMAKE_CXX_COMPILER}|${CMAKE_CXX_COMPILER_VERSION}")
if(NOT "${ETAGERE_CANARY_VERDICT}" STREQUAL "${verdict_key}")
  try_run(canary_runs canary_compiles ${CMAKE_BINARY_DIR}/canary ${canary}
    CXX_STANDARD 23 CXX_STANDARD_REQUIRED ON
    COMPILE_OUTPUT_VARIABLE canary_build_log
    RUN_OUTPUT_VARIABLE canary_log)
  if(NOT canary_compiles)
    message(FATAL_ERROR "${CMAKE_CXX_COMPILER} cannot compile C++23 with std::expected and coroutines:\n${canary_build_log}\n"
      "Install clang 19 (docker/packages.sh install build) and configure with a preset, which selects it.")
  endif()
  if(NOT canary_runs EQUAL 0)
    message(FATAL_ERROR "${CMAKE_CXX_COMPILER} ${CMAKE_CXX_COMPILER_VERSION} miscompiles coroutines:\n${canary_log}\n"
      "Install clang 19 (docker/packages.sh install build) and configure with a preset, which selects it.")
  endif()
  set(ETAGERE_CANARY_VERDICT "${verdict_key}" CACHE INTERNAL "compiler that passed the canary")
endif()
