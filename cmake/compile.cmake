# SPDX-License-Identifier: Apache-2.0
#
# How every C file of the tree is compiled: laneway_compile(target).

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

set(laneway_warnings
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wvla -Wundef -Wstrict-prototypes
    -Wmissing-prototypes -Wformat=2 -Wnull-dereference)
if(LANEWAY_WERROR)
    list(APPEND laneway_warnings -Werror)
endif()

set(laneway_sanitize_options "")
if(LANEWAY_SANITIZE)
    # Assertions stay on here: NDEBUG belongs to the builds that are measured.
    set(laneway_sanitize_options
        -fsanitize=${LANEWAY_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -O1 -UNDEBUG)
    # Frames that outlive their function, for detect_stack_use_after_return, are not aligned for vectors
    # of 64 bytes (gcc bug 110027): the files that have such variables keep them on the plain stack.
    if(CMAKE_C_COMPILER_ID STREQUAL GNU AND LANEWAY_SANITIZE MATCHES address)
        set_source_files_properties(src/base/json_string_avx512.c src/tokenize/bpe_short_avx512.c
                                    src/tokenize/cls_avx512.c src/tokenize/piece_keys_avx512.c PROPERTIES
                                    COMPILE_OPTIONS --param=asan-stack=0)
    endif()
endif()

# gcc 12 vectorises simple loops only from -O3 on; it costs little here and rows are such loops.
set(laneway_optimize -fno-math-errno $<$<CONFIG:RelWithDebInfo,Release>:-O3>)

function(laneway_compile target)
    target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
    target_compile_options(${target} PRIVATE ${laneway_warnings} ${laneway_optimize} ${laneway_sanitize_options})
endfunction()

if(LANEWAY_SANITIZE)
    add_link_options(-fsanitize=${LANEWAY_SANITIZE})
endif()
