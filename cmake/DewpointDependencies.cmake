# The outside libraries, one imported target each. tools/packages.txt names the Debian package
# that brings it.
find_package(Threads REQUIRED)
find_package(TBB REQUIRED)
find_package(fmt REQUIRED)
find_package(hwy REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(OpenBLAS REQUIRED IMPORTED_TARGET openblas)
pkg_check_modules(NetCDF REQUIRED IMPORTED_TARGET netcdf)
pkg_check_modules(LibZip REQUIRED IMPORTED_TARGET libzip)
pkg_check_modules(XXHash REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(SentencePiece REQUIRED IMPORTED_TARGET sentencepiece)
pkg_check_modules(HttpLib REQUIRED IMPORTED_TARGET cpp-httplib)
pkg_check_modules(PCRE2 REQUIRED IMPORTED_TARGET libpcre2-8)
if(DEWPOINT_MPI)
  find_package(MPI REQUIRED COMPONENTS C)
endif()

# SUNDIALS has a CMake package, but it insists on OpenMP, MPI and PETSc. CVODE's library brings the
# serial vectors and the solvers that it needs.
find_path(CVODE_INCLUDE_DIR cvode/cvode.h REQUIRED)
find_library(CVODE_LIBRARY sundials_cvode REQUIRED)

# Header-only libraries; not all of them have a CMake package.
find_path(RANDOM123_INCLUDE_DIR Random123/philox.h REQUIRED)
find_path(BOOST_MATH_INCLUDE_DIR boost/math/quadrature/gauss.hpp REQUIRED)
find_path(EIGEN_INCLUDE_DIR Eigen/Core PATH_SUFFIXES eigen3 REQUIRED)
find_path(SPECTRA_INCLUDE_DIR Spectra/SymEigsSolver.h REQUIRED)
find_path(TOMLPLUSPLUS_INCLUDE_DIR toml++/toml.h REQUIRED)
find_path(CLI11_INCLUDE_DIR CLI/CLI.hpp REQUIRED)
find_path(NLOHMANN_JSON_INCLUDE_DIR nlohmann/json.hpp REQUIRED)
