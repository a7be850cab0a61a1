#include "dewpoint/server/explorer_page.hpp"

#include <fmt/format.h>

#include "dewpoint/server/secret.hpp"

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

constexpr std::string_view kWelcomePage = R"html(<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Dewpoint</title>
<script nonce="DEWPOINT_NONCE">location.replace('/' + location.hash)</script>
<p><a href="/">Open the explorer</a></p>
</html>
)html";

constexpr std::string_view kLockedPage = R"html(<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Dewpoint</title>
<style nonce="DEWPOINT_NONCE">body { font: 16px/1.5 sans-serif; margin: 3em auto; max-width: 40em }</style>
<h1>Dewpoint</h1>
<p>This explorer asks for its token. Open the link that <code>dewpoint serve</code> printed when it
started: it ends in <code>?token=</code> and the token.</p>
</html>
)html";

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

ServedPage served(std::string_view page) {
  const std::string nonce = fresh_secret();
  return {with_nonce(page, nonce),
          fmt::format("default-src 'none'; script-src 'nonce-{0}'; style-src 'nonce-{0}'; "
                      "style-src-attr 'unsafe-inline'; img-src 'self' data: blob:; connect-src "
                      "'self'; worker-src blob:; base-uri 'none'; form-action 'none'; "
                      "frame-ancestors 'none'",
                      nonce)};
}

}  // namespace

ServedPage explorer_page() {
  return served(page_template().empty() ? kPlainPage : page_template());
}

ServedPage welcome_page() { return served(kWelcomePage); }

ServedPage locked_page() { return served(kLockedPage); }

}  // namespace dewpoint::server
