// SPDX-License-Identifier: Apache-2.0
#include "ordo/data/hf_tokenizer.h"

namespace ordo {

void fields(Fields& f, HfTokenizer::Config& c) { f("file", c.file, "a tokenizer.json", required()); }

}  // namespace ordo
