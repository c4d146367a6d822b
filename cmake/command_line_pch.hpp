// What nearly every file of the command line uses.
#pragma once
#include "cmake/pch.hpp"

#include <CLI/CLI.hpp>
