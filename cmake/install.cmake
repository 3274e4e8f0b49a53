# SPDX-License-Identifier: Apache-2.0
#
# What is installed, and the two ways to find it afterwards: a pkg-config file that may be moved
# with its prefix, and a CMake package.

include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/laneway)

install(FILES ${laneway_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/laneway)
foreach(kind shared static)
    set_target_properties(laneway_${kind} PROPERTIES EXPORT_NAME laneway_${kind})
    install(TARGETS laneway_${kind} EXPORT laneway-${kind}
            LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
            ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(EXPORT laneway-${kind} NAMESPACE laneway:: DESTINATION ${package_folder})
endforeach()
if(TARGET laneway_command)
    install(TARGETS laneway_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

# The .pc file names its prefix by the way back from where it lies.
cmake_path(SET pc_folder NORMALIZE "/${CMAKE_INSTALL_LIBDIR}/pkgconfig")
file(RELATIVE_PATH pc_to_prefix ${pc_folder} /)
cmake_path(GET pc_to_prefix PARENT_PATH pc_to_prefix)
list(JOIN laneway_modules " " pc_requires_private)
configure_file(cmake/laneway.pc.in laneway.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/laneway.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

configure_package_config_file(cmake/laneway-config.cmake.in laneway-config.cmake
                              INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(laneway-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/laneway-config.cmake
              ${PROJECT_BINARY_DIR}/laneway-config-version.cmake
        DESTINATION ${package_folder})
