// The page that `web/` builds, as a part of the program: see report/page_template.cpp.
//
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>

#include "dewpoint/server/explorer_page.hpp"

#ifdef DEWPOINT_EXPLORER_TEMPLATE

__asm__(
    ".pushsection .rodata\n"
    ".global dewpoint_explorer_begin\n"
    ".hidden dewpoint_explorer_begin\n"
    ".global dewpoint_explorer_end\n"
    ".hidden dewpoint_explorer_end\n"
    "dewpoint_explorer_begin:\n"
    ".incbin \"" DEWPOINT_EXPLORER_TEMPLATE
    "\"\n"
    "dewpoint_explorer_end:\n"
    ".popsection\n");

extern "C" {
[[gnu::visibility("hidden")]] extern const char dewpoint_explorer_begin[];
[[gnu::visibility("hidden")]] extern const char dewpoint_explorer_end[];
}

std::string_view dewpoint::server::page_template() {
  return {dewpoint_explorer_begin,
          static_cast<std::size_t>(dewpoint_explorer_end - dewpoint_explorer_begin)};
}

#else

std::string_view dewpoint::server::page_template() { return {}; }

#endif
