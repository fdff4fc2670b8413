// SPDX-License-Identifier: Apache-2.0
#define CATCH_CONFIG_RUNNER
#include "support/catch.h"

#include <ATen/Context.h>

int main(int argc, char** argv) {
  at::globalContext().setFlushDenormal(true);  // as the program does
  return Catch::Session().run(argc, argv);
}
