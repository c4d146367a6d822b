// What nearly every test of jobs on a real database uses.
#pragma once
#include "cmake/test_pch.hpp"
#include "tests/server/jobs/jobs_fixture.hpp"
