# SPDX-License-Identifier: Apache-2.0
#
# fuzz/<name>.c: libFuzzer targets, which fuzz/make-seeds has files for. Configure with clang and
# LANEWAY_SANITIZE=fuzzer-no-link,address,undefined, as ./dev fuzz does.

file(GLOB fuzz_sources CONFIGURE_DEPENDS fuzz/*.c)
foreach(source ${fuzz_sources})
    cmake_path(GET source STEM name)
    add_executable(fuzz_${name} ${source})
    laneway_compile(fuzz_${name})
    target_include_directories(fuzz_${name} PRIVATE src)
    target_link_libraries(fuzz_${name} PRIVATE laneway_static ${laneway_dependencies})
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    set_target_properties(fuzz_${name} PROPERTIES
        OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
endforeach()
