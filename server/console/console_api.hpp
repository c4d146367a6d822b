#pragma once

#include "core/net/router.hpp"
#include "server/console/console_files.hpp"

namespace fathom::server {

/// The web console: its files at /assets, its one document at / and at every path that is nothing else and that a
/// browser asks for as a page. The document carries a content security policy that lets it load from here only.
/// @param files  must outlive the router.
void add_console_routes(net::Router& router, std::span<const ConsoleFile> files);

} // namespace fathom::server
