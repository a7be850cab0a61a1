# The front door. Each target installs what it needs, builds what it needs and does one thing.
# Everything behind it is CMake: the presets of CMakePresets.json work without this file.

PREFIX ?= /usr/local
DEWPOINT_JOBS ?= $(shell nproc 2>/dev/null || echo 2)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help run test test-full bench install format tidy clean

dewpoint := build/release/src/cli/dewpoint
# On a terminal Ninja rewrites one line; in a log it would write hundreds.
quiet := $(if $(MAKE_TERMOUT),,-- --quiet)
build = $(if $(MAKE_TERMOUT),,echo "Building $(1)" && )cmake --build --preset $(1) -j $(DEWPOINT_JOBS) $(quiet)
shell_scripts = .ci/run $(wildcard tools/*.sh benchmarks/*.sh python/tests/*.sh)
sources = $(shell find src tests benchmarks python -name '*.cpp' -o -name '*.hpp')

help: ## Show this list.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

run: ## Build Dewpoint, run it at its quick size and print where the figures are.
	@tools/setup.sh build
	@$(MAKE) -s --no-print-directory build/release/build.ninja
	@$(call build,release)
	@$(dewpoint) reproduce --quick -o dewpoint-out

test: ## Build with every check on and run the tests.
	@tools/setup.sh build test
	@$(MAKE) -s --no-print-directory build/dev/build.ninja
	@$(call build,dev)
	@ctest --preset dev -LE full -j2

# A fresh seed unless one is given: DEWPOINT_TEST_SEED=123 make test-full repeats a run.
test-full: export DEWPOINT_TEST_SEED := $(or $(DEWPOINT_TEST_SEED),$(shell od -An -N4 -tu4 /dev/urandom | tr -d ' '))
test-full: ## Run the long tests too, with a fresh seed, then sanitizers, fuzzing and clang-tidy.
	@tools/setup.sh build test full
	@echo "DEWPOINT_TEST_SEED=$$DEWPOINT_TEST_SEED"
	@$(MAKE) -s --no-print-directory build/dev/build.ninja
	@$(call build,dev)
	@ctest --preset dev -j2
	@$(MAKE) -s --no-print-directory build/sanitize/build.ninja
	@$(call build,sanitize)
	@ctest --preset sanitize -LE full -j2
	@$(MAKE) -s --no-print-directory build/fuzz/build.ninja
	@$(call build,fuzz)
	@ctest --test-dir build/fuzz -R '^fuzz\.' --no-tests=error --output-on-failure
	@$(MAKE) --no-print-directory tidy
	@echo "All checks hold for DEWPOINT_TEST_SEED=$$DEWPOINT_TEST_SEED"

bench: ## Build the benchmarks and run them.
	@tools/setup.sh build bench
	@$(MAKE) -s --no-print-directory build/bench/build.ninja
	@$(call build,bench)
	@benchmarks/run.sh

install: ## Install the release build below PREFIX (/usr/local unless told otherwise).
	@tools/setup.sh build
	@$(MAKE) -s --no-print-directory build/release/build.ninja
	@$(call build,release)
	@cmake --install build/release --prefix "$(PREFIX)"

format: ## Lay out the C++ sources with clang-format.
	@tools/setup.sh format
	@clang-format -i $(sources)

tidy: ## Check the sources with clang-tidy and the scripts with shellcheck.
	@tools/setup.sh build full
	@shellcheck $(shell_scripts)
	@$(MAKE) -s --no-print-directory build/tidy/build.ninja
	@$(call build,tidy)

clean: ## Remove everything that was built, and the output of make run.
	@rm -rf build dewpoint-out

# Configuring is done once; after that the build itself sees when it must be done again. Only a
# change of the presets has to come through here.
build/%/build.ninja: CMakePresets.json
	@echo "Configuring $*"
	@mkdir -p build
	@cmake --preset $* >build/$*.log 2>&1 || { cat build/$*.log; exit 1; }
	@touch $@
