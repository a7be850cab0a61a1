#include "dewpoint/server/explorer_page.hpp"

#include <fmt/format.h>

#include <random>

namespace dewpoint::server {
namespace {

constexpr std::string_view kPlainPage = R"html(<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Dewpoint</title>
<style nonce="DEWPOINT_NONCE">body { font: 16px/1.5 sans-serif; margin: 3em auto; max-width: 40em }</style>
<h1>Dewpoint</h1>
<p>The server runs, but the page of the explorer was not built into this program.</p>
<p>Build it with Node.js and npm installed and without <code>-DDEWPOINT_WEB=OFF</code>. The interface
for programs works: <a href="/api/rooms">/api/rooms</a>.</p>
</html>
)html";

std::string fresh_nonce() {
  std::random_device device;
  std::string nonce;
  for (int k = 0; k < 4; ++k) nonce += fmt::format("{:08x}", device());
  return nonce;
}

std::string with_nonce(std::string_view page, const std::string& nonce) {
  std::string html;
  html.reserve(page.size() + 256);
  for (;;) {
    const auto at = page.find(kNoncePlace);
    html += page.substr(0, at);
    if (at == std::string_view::npos) return html;
    html += nonce;
    page.remove_prefix(at + kNoncePlace.size());
  }
}

}  // namespace

ServedPage explorer_page() {
  const std::string nonce = fresh_nonce();
  const std::string_view page = page_template().empty() ? kPlainPage : page_template();
  return {with_nonce(page, nonce),
          fmt::format("default-src 'none'; script-src 'nonce-{0}'; style-src 'nonce-{0}'; "
                      "style-src-attr 'unsafe-inline'; img-src 'self' data: blob:; connect-src "
                      "'self'; worker-src blob:; base-uri 'none'; form-action 'none'; "
                      "frame-ancestors 'none'",
                      nonce)};
}

}  // namespace dewpoint::server
