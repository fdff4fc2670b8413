#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the rules of the house that a compiler does not see: which folder may include which, which library is seen where,
and what every file and every test must look like. Prints file:line: text for each breach; exit 1 when there is one.

    scripts/check_layers.py [ROOT]
"""
import re
import sys
from pathlib import Path

# A folder of src/ordo -> the folders right below it; it may include those, what those may include, and itself.
BELOW = {
    "core": [],
    "config": ["core"],
    "tokenizers": ["core"],
    "ops": ["core"],
    "cuda": ["ops"],
    "nn": ["ops", "config"],
    "positions": ["nn"],
    "attention": ["positions"],
    "models": ["attention"],
    "checkpoint": ["nn"],
    "views": ["models", "checkpoint"],
    "interop": ["models", "checkpoint"],
    "data": ["ops", "config", "tokenizers"],
    "generate": ["models", "data"],
    "statistics": ["core"],
    "metrics": ["statistics"],
    "tasks": ["generate", "metrics"],
    "certify": ["models", "checkpoint"],
    "train": ["tasks", "certify"],
    "study": ["train"],
    "report": ["study", "views"],
}
# Seen from every layer that sees tensors: an abstract class which includes nothing of the house, so that the CUDA side can be opened at run time.
OPEN_INTERFACES = {"cuda/backend.h"}
NO_TENSORS = {"core", "config", "tokenizers", "statistics", "metrics"}

# (pattern of the include, who may have it, what the rule is)
LIBRARIES = [
    (r"CLI/|CLI11", lambda p: p.startswith("apps/"), "CLI11 is seen in apps/ only"),
    (r"spdlog/", lambda p: p == "src/ordo/core/log.cpp", "spdlog is seen in src/ordo/core/log.cpp only"),
    (r"yaml-cpp/", lambda p: p.startswith("src/ordo/config/"), "yaml-cpp is seen in src/ordo/config/ only"),
    (r"boost/", lambda p: p.startswith("src/ordo/statistics/"), "Boost is seen in src/ordo/statistics/ only"),
    (r"pcre2", lambda p: p == "src/ordo/tokenizers/regex.cpp", "PCRE2 is seen in src/ordo/tokenizers/regex.cpp only"),
    (r"sentencepiece_", lambda p: p == "src/ordo/tokenizers/sentencepiece_model.cpp",
     "SentencePiece is seen in src/ordo/tokenizers/sentencepiece_model.cpp only"),
    (r"csv\.h$", lambda p: p == "src/ordo/data/table_file.cpp", "libcsv is seen in src/ordo/data/table_file.cpp only"),
    (r"zlib\.h$", lambda p: p in ("src/ordo/data/packed_file.cpp", "src/ordo/data/splits.cpp") or p.startswith("tests/"),
     "zlib is seen in src/ordo/data/packed_file.cpp and, for its CRC-32, in splits.cpp only (tests pack with it)"),
    (r"zstd", lambda p: p == "src/ordo/data/packed_file.cpp" or p.startswith("tests/"),
     "zstd is seen in src/ordo/data/packed_file.cpp only (tests pack with it)"),
    (r"png\.h$", lambda p: p == "src/ordo/data/image_file.cpp", "libpng is seen in src/ordo/data/image_file.cpp only"),
    (r"jpeglib\.h$|jerror\.h$", lambda p: p in ("src/ordo/data/image_file.cpp", "tests/data/image_file_test.cpp"),
     "libjpeg is seen in src/ordo/data/image_file.cpp only (its test writes with it)"),
    (r"sndfile\.h$", lambda p: p == "src/ordo/data/audio_file.cpp", "libsndfile is seen in src/ordo/data/audio_file.cpp only"),
    (r"catch2/", lambda p: p == "tests/support/catch.h", 'Catch2 comes through "support/catch.h" only'),
    (r"torch/torch\.h|ATen/ATen\.h", lambda p: False, "it costs 7 to 14 s of every compilation: include single headers"),
]
TENSOR_HEADER = re.compile(r"^(ATen|c10|torch|caffe2)/")
KINDS = ["unit", "golden", "conformance", "cli", "slow", "gpu"]
LONGEST = 400
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
TEST_CASE = re.compile(r'\b(?:TEMPLATE_|)TEST_CASE(?:_METHOD)?\(((?:\s*"(?:[^"\\]|\\.)*")+)\s*(?:,((?:\s*"(?:[^"\\]|\\.)*")+))?')
TYPE = re.compile(r"(?:struct|class|enum class) (\w+)(?: final)?(?: :.*)? \{")
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b|^(<<<<<<<|>>>>>>>) ")
MACHINE_PATH = re.compile(r'(?<![\w.])/(work|root|home/\w+)/')
SOURCE_KINDS = {".h", ".cpp", ".cu", ".cuh", ".py", ".sh", ".cmake"}
SPDX = "SPDX-License-Identifier: Apache-2.0"


def may_see(layer, seen=None):
    """The layer and all below it."""
    seen = seen if seen is not None else set()
    if layer not in seen:
        seen.add(layer)
        for below in BELOW[layer]:
            may_see(below, seen)
    return seen


class House:
    def __init__(self, root):
        self.root = root
        self.breaches, self.warnings = [], []
        self.files = {}   # path from the root -> lines
        for folder in ("src", "apps", "tests", "scripts"):
            for path in sorted((root / folder).rglob("*")):
                if path.is_file() and (path.suffix in SOURCE_KINDS or path.name == "CMakeLists.txt"):
                    self.files[path.relative_to(root).as_posix()] = path.read_text(encoding="utf-8").splitlines()
        self.includes = {p: list(self.includes_of(lines)) for p, lines in self.files.items() if p.endswith((".h", ".cpp", ".cu", ".cuh"))}
        self.encodings = self.concrete("positions")

    @staticmethod
    def includes_of(lines):
        for number, line in enumerate(lines, 1):
            found = INCLUDE.match(line)
            if found:
                yield number, found.group(1)

    def concrete(self, layer):
        """The headers of a catalogue's kinds: what catalog.cpp includes of its own folder, its interface excepted."""
        interfaces = {"positions/encoding.h"}
        found = set()
        for _, name in self.includes.get(f"src/ordo/{layer}/catalog.cpp", []):
            inner = name.removeprefix("ordo/")
            if inner.startswith(layer + "/") and inner not in interfaces:
                found.add(inner)
        return found

    def breach(self, path, line, text):
        self.breaches.append(f"{path}:{line}: {text}")

    def check(self):
        for path, includes in self.includes.items():
            self.check_includes(path, includes)
        self.check_cycles()
        self.check_types()
        for path, lines in self.files.items():
            self.check_text(path, lines)
            if path.endswith("_test.cpp"):
                self.check_tests(path, "\n".join(lines))

    def check_includes(self, path, includes):
        parts = path.split("/")
        layer = parts[2] if path.startswith("src/ordo/") and len(parts) > 3 else None
        if layer and layer not in BELOW:
            return self.breach(path, 1, f"folder '{layer}' is not in the table of layers (scripts/check_layers.py)")
        mirrored = parts[1] if parts[0] == "tests" and parts[1] in BELOW else None
        for line, name in includes:
            for pattern, allowed, rule in LIBRARIES:
                if re.match(pattern, name) and not allowed(path):
                    self.breach(path, line, f"includes <{name}>: {rule}")
            if layer in NO_TENSORS and TENSOR_HEADER.match(name):
                self.breach(path, line, f"includes <{name}>: {layer}/ sees no tensors")
            if name.startswith("ordo/"):
                self.check_direction(path, line, layer or mirrored, name.removeprefix("ordo/"))

    def check_direction(self, path, line, layer, name):
        target = name.split("/")[0]
        if f"src/ordo/{name}" not in self.files:
            return self.breach(path, line, f'"ordo/{name}" does not exist')
        if layer and target not in may_see(layer) and not (name in OPEN_INTERFACES and layer not in NO_TENSORS):
            self.breach(path, line, f'{layer}/ includes "ordo/{name}": {target}/ is not below {layer}/')
        if name in OPEN_INTERFACES and any(n.startswith("ordo/") for _, n in self.includes[f"src/ordo/{name}"]):
            self.breach(f"src/ordo/{name}", 1, "is open to all layers and must include nothing of the house")
        if name in self.encodings and not path.startswith(("src/ordo/positions/", "tests/")):
            self.breach(path, line, f'"ordo/{name}" is a concrete encoding: only its catalogue and its tests know it')

    def check_cycles(self):
        state, trail = {}, []

        def visit(path):
            state[path] = "open"
            trail.append(path)
            for _, name in self.includes.get(path, []):
                target = f"src/{name}"
                if state.get(target) == "open" and target != path:
                    self.breach(path, 1, "includes go in a circle: " + " -> ".join(trail[trail.index(target):] + [target]))
                elif target in self.includes and target not in state:
                    visit(target)
            trail.pop()
            state[path] = "done"

        for path in self.includes:
            if path not in state:
                visit(path)

    def check_types(self):
        """Two types of one name in two headers: no compiler sees both, and the linker takes the functions of either."""
        seen = {}
        for path, lines in self.files.items():
            if not (path.startswith("src/ordo/") and path.endswith(".h")) or any(line.startswith("namespace ordo::") for line in lines):
                continue
            for number, line in enumerate(lines, 1):
                found = TYPE.match(line)
                if found and seen.setdefault(found.group(1), path) != path:
                    self.breach(path, number, f"type '{found.group(1)}' is defined in {seen[found.group(1)]} too")

    def check_text(self, path, lines):
        if SPDX not in "\n".join(lines[:2]):
            self.breach(path, 1, f"its first line must be the licence: {SPDX}")
        if path.endswith(".h") and "#pragma once" not in lines:
            self.breach(path, 1, "a header says #pragma once")
        if not re.fullmatch(r"[a-z0-9_.]+|CMakeLists\.txt|(Find|Ordo)\w+\.cmake", Path(path).name):
            self.breach(path, 1, "file names are snake_case")
        itself = path == "scripts/check_layers.py"
        for number, line in enumerate(lines, 1):
            if UNFINISHED.search(line) and not itself:
                self.breach(path, number, "unfinished: " + line.strip())
            if MACHINE_PATH.search(line) and not itself:
                self.breach(path, number, "a path of somebody's machine: " + line.strip())
            if line.startswith("using namespace"):
                self.breach(path, number, "using namespace at file level breaks unity builds")
        if len(lines) > LONGEST and path.startswith(("src/", "apps/")):
            self.warnings.append(f"{path}: {len(lines)} lines; over {LONGEST} it asks to be split")

    def check_tests(self, path, text):
        for case in TEST_CASE.finditer(text):
            line = text.count("\n", 0, case.start()) + 1
            tags = re.findall(r"\[([^\]]+)\]", case.group(2) or "")
            kinds = [t for t in tags if t in KINDS]
            if len(kinds) != 1:
                self.breach(path, line, f"a test has exactly one of {' '.join(f'[{k}]' for k in KINDS)}; this one has {kinds or 'none'}")


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
    house = House(root)
    house.check()
    for text in house.warnings:
        print(f"warning: {text}")
    for text in house.breaches:
        print(text)
    if house.breaches:
        print(f"layers: {len(house.breaches)} breaches of the rules")
        return 1
    print(f"layers: {len(house.files)} files keep the rules")
    return 0


if __name__ == "__main__":
    sys.exit(main())
