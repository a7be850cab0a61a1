// The page that `web/` builds, as a part of the program.
//
// DEWPOINT_PAGE_TEMPLATE is the path of the built file. The assembler copies its bytes into the
// constants of this object file, between two symbols: no tool of our own, and no string literal of
// hundreds of kilobytes. ELF only, with g++ and clang, on any processor.
//
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>

#include "dewpoint/report/report_page.hpp"

#ifdef DEWPOINT_PAGE_TEMPLATE

// Global, so that link-time optimisation finds them from another unit; hidden, so that a shared
// library does not export them.
__asm__(
    ".pushsection .rodata\n"
    ".global dewpoint_page_begin\n"
    ".hidden dewpoint_page_begin\n"
    ".global dewpoint_page_end\n"
    ".hidden dewpoint_page_end\n"
    "dewpoint_page_begin:\n"
    ".incbin \"" DEWPOINT_PAGE_TEMPLATE
    "\"\n"
    "dewpoint_page_end:\n"
    ".popsection\n");

extern "C" {
[[gnu::visibility("hidden")]] extern const char dewpoint_page_begin[];
[[gnu::visibility("hidden")]] extern const char dewpoint_page_end[];
}

std::string_view dewpoint::report::page_template() {
  return {dewpoint_page_begin, static_cast<std::size_t>(dewpoint_page_end - dewpoint_page_begin)};
}

#else

std::string_view dewpoint::report::page_template() { return {}; }

#endif
