# SPDX-License-Identifier: Apache-2.0
#
# What the library links to. laneway_modules names the pkg-config modules once: the build, the
# installed .pc file and the installed CMake package all read that list.

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)

set(laneway_modules libzstd zlib libxxhash libcrypto yaml-0.1 libpcre2-8)
set(laneway_dependencies Threads::Threads m)
foreach(module ${laneway_modules})
    pkg_check_modules(LANEWAY_${module} REQUIRED IMPORTED_TARGET ${module})
    list(APPEND laneway_dependencies PkgConfig::LANEWAY_${module})
endforeach()
