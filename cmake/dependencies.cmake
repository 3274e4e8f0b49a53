# SPDX-License-Identifier: Apache-2.0
#
# What the library links to. laneway_modules names the pkg-config modules once: the build, the
# installed .pc file and the installed CMake package all read that list.
#
# With LANEWAY_STATIC_DEPENDENCIES the archives go into the library, for a file that is to run where
# they are not installed; a module without an archive is linked as usual.

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)

# A target like PkgConfig's that links the module's archive; the name of either in `out`.
function(laneway_static_module module out)
    set(${out} PkgConfig::LANEWAY_${module} PARENT_SCOPE)
    find_library(LANEWAY_${module}_ARCHIVE NAMES lib${LANEWAY_${module}_LIBRARIES}.a
                 HINTS ${LANEWAY_${module}_LIBDIR} ${LANEWAY_${module}_LIBRARY_DIRS})
    if(NOT LANEWAY_${module}_ARCHIVE)
        message(STATUS "${module} has no archive: it is linked as a shared library")
        return()
    endif()
    add_library(laneway_archive_${module} INTERFACE)
    target_include_directories(laneway_archive_${module} INTERFACE ${LANEWAY_${module}_INCLUDE_DIRS})
    target_link_libraries(laneway_archive_${module} INTERFACE
                          ${LANEWAY_${module}_ARCHIVE} Threads::Threads ${CMAKE_DL_LIBS})
    set(${out} laneway_archive_${module} PARENT_SCOPE)
endfunction()

set(laneway_modules libzstd zlib libxxhash libcrypto yaml-0.1 libpcre2-8)
set(laneway_dependencies Threads::Threads m)
foreach(module ${laneway_modules})
    pkg_check_modules(LANEWAY_${module} REQUIRED IMPORTED_TARGET ${module})
    set(target PkgConfig::LANEWAY_${module})
    if(LANEWAY_STATIC_DEPENDENCIES)
        laneway_static_module(${module} target)
    endif()
    list(APPEND laneway_dependencies ${target})
endforeach()
