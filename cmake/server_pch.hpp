// What nearly every file of the server uses.
#pragma once
#include "cmake/pch.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <pqxx/pqxx>
