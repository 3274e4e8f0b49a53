# SPDX-License-Identifier: Apache-2.0
#
# examples/<name>.c: programs as a user would write them, on the public interface only. Each runs
# as the test example.<name>, with the sample recipe as its argument. Those for MPI, mpi_<name>.c, are
# built where there is one, and are run by tests/mpi.

function(laneway_example name)
    add_executable(example_${name} examples/${name}.c)
    laneway_compile(example_${name})
    target_link_libraries(example_${name} PRIVATE laneway::laneway Threads::Threads m ${ARGN})
    set_target_properties(example_${name} PROPERTIES
        OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
endfunction()

find_package(MPI QUIET COMPONENTS C)
file(GLOB example_sources CONFIGURE_DEPENDS examples/*.c)
foreach(source ${example_sources})
    cmake_path(GET source STEM name)
    if(name MATCHES "^mpi_")
        if(MPI_C_FOUND)
            laneway_example(${name} MPI::MPI_C)
        endif()
        continue()
    endif()
    laneway_example(${name})
    add_test(NAME example.${name}
             COMMAND example_${name} ${PROJECT_SOURCE_DIR}/examples/data/recipe.yaml)
    set_tests_properties(example.${name} PROPERTIES LABELS examples TIMEOUT 300)
endforeach()
