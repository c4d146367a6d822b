// What nearly every test uses.
#pragma once
#include "cmake/pch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
