# SPDX-License-Identifier: Apache-2.0
#
# Tests, found by where they are; nothing is listed twice.
#
#   tests/unit/<layer>/test_<file>.c   one executable each, ctest name unit.<layer>.<file>
#   tests/support/<name>_driver.c      one executable each, a program that scripts drive
#   tests/support/<other>.c            helpers linked into both
#   tests/<name>/run                   a script: ctest name <name>, label <name> (its last word)
#
# A script finds the build in $LANEWAY_BUILD, exits with 77 to skip, and may say in its first lines
# "# labels: slow" and "# timeout: SECONDS".

pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)

file(GLOB support_sources CONFIGURE_DEPENDS tests/support/*.c)
set(driver_sources ${support_sources})
list(FILTER driver_sources INCLUDE REGEX "_driver\\.c$")
list(FILTER support_sources EXCLUDE REGEX "_driver\\.c$")

function(laneway_test_program target)
    add_executable(${target} ${ARGN} ${support_sources})
    laneway_compile(${target})
    target_include_directories(${target} PRIVATE src tests)
    target_link_libraries(${target} PRIVATE laneway_static ${laneway_dependencies})
endfunction()

foreach(source ${driver_sources})
    cmake_path(GET source STEM name)
    laneway_test_program(${name} ${source})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
endforeach()

file(GLOB unit_sources CONFIGURE_DEPENDS tests/unit/*/test_*.c)
foreach(source ${unit_sources})
    string(REGEX MATCH "unit/([^/]+)/test_([^/]+)\\.c$" found ${source})
    set(target test_${CMAKE_MATCH_1}_${CMAKE_MATCH_2})
    set(test unit.${CMAKE_MATCH_1}.${CMAKE_MATCH_2})
    laneway_test_program(${target} ${source})
    target_link_libraries(${target} PRIVATE PkgConfig::CMOCKA)
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    add_test(NAME ${test} COMMAND ${target} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${test} PROPERTIES LABELS unit SKIP_RETURN_CODE 77 TIMEOUT 300)
endforeach()

file(GLOB scripts CONFIGURE_DEPENDS tests/*/run)
foreach(script ${scripts})
    cmake_path(GET script PARENT_PATH folder)
    cmake_path(GET folder FILENAME name)
    string(REGEX REPLACE ".*-" "" labels ${name})
    set(timeout 1800)
    file(STRINGS ${script} head LIMIT_COUNT 20 REGEX "^# (labels|timeout): ")
    foreach(line ${head})
        if(line MATCHES "^# labels: ([a-z ]+)$")
            string(REPLACE " " ";" more ${CMAKE_MATCH_1})
            list(APPEND labels ${more})
        elseif(line MATCHES "^# timeout: ([0-9]+)$")
            set(timeout ${CMAKE_MATCH_1})
        endif()
    endforeach()
    add_test(NAME ${name} COMMAND ${script} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${name} PROPERTIES
        LABELS "${labels}" SKIP_RETURN_CODE 77 TIMEOUT ${timeout}
        ENVIRONMENT "LANEWAY_BUILD=${PROJECT_BINARY_DIR}")
endforeach()
