// SPDX-License-Identifier: Apache-2.0
#include "ordo/checkpoint/manifest.h"

#include <torch/version.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "ordo/checkpoint/checkpoint.h"
#include "ordo/checkpoint/guard.h"
#include "ordo/core/hash.h"

namespace ordo {

namespace {

// The last lines of a manifest: the checksum of what stands before.
std::string closing_lines(std::string_view before) {
  return fmt::format("  \"xxh3\": \"{}\"\n}}\n", hash_text(hash_bytes(before.data(), before.size())));
}

Json file_json(const FileRecord& file) {
  Json json{{"size", file.size}};
  if (!file.safetensors()) json["xxh3"] = file.xxh3;
  return json;
}

Json tensors_json(const FileRecord& file) {
  Json sums = Json::object();
  for (const auto& [name, xxh3] : file.tensors)
    sums.get_ref<Json::object_t&>().emplace_back(name, xxh3);  // operator[] would search all names again
  return {{"header", file.header}, {"tensors", std::move(sums)}};
}

Manifest manifest_from(const Json& json) {
  Manifest manifest{.step = json.at("step").get<int64_t>(), .files = {}};
  for (const auto& [name, entry] : json.at("files").items()) {
    FileRecord file{.name = name, .size = entry.at("size").get<uint64_t>()};
    if (entry.contains("xxh3")) {
      file.xxh3 = entry.at("xxh3").get<std::string>();
    } else {
      const Json& parts = json.at("tensors").at(name);
      file.header = parts.at("header").get<std::string>();
      for (const auto& [tensor, sum] : parts.at("tensors").items())
        file.tensors.emplace_back(tensor, sum.get<std::string>());
    }
    manifest.files.push_back(std::move(file));
  }
  return manifest;
}

void require_known_format(const Json& json, const std::string& what) {
  const Json format = json.value("format", Json());
  require<CheckpointError>(format.is_number_integer(), "{} names no format", what);
  require<CheckpointError>(format.get<int64_t>() <= kCheckpointFormat,
                           "{} is of format {}; this Ordo reads up to {}: use a newer one", what, format.get<int64_t>(),
                           kCheckpointFormat);
}

// Every file below folder, by its name relative to it.
std::set<std::string> files_below(const fs::path& folder) {
  std::set<std::string> names;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
    if (!fs::is_directory(entry.symlink_status()))
      names.insert(entry.path().lexically_relative(folder).generic_string());
  return names;
}

void verify_tensors(const fs::path& path, const FileRecord& expected) {
  const SafetensorsFile file(path);
  const std::string what = path.string();
  for (const auto& [name, sum] : expected.tensors) {
    require<CheckpointError>(file.has(name), "{} lacks tensor '{}'", what, name);
    require<CheckpointError>(hash_text(file.checksum(name)) == sum,
                             "{}: tensor '{}' is damaged: its bytes have changed since they were written", what, name);
  }
  require<CheckpointError>(hash_text(file.header_checksum()) == expected.header,
                           "{}: the header is damaged: its bytes have changed since they were written", what);
}

void verify_bytes(const fs::path& path, const FileRecord& expected) {
  if (expected.safetensors()) return verify_tensors(path, expected);
  const std::string content = read_file(path);
  require<CheckpointError>(hash_text(hash_bytes(content.data(), content.size())) == expected.xxh3,
                           "{} is damaged: its bytes have changed since they were written", path.string());
}

}  // namespace

const FileRecord* Manifest::find(std::string_view name) const {
  const auto found =
      std::find_if(files.begin(), files.end(), [&](const FileRecord& file) { return file.name == name; });
  return found == files.end() ? nullptr : &*found;
}

std::string Manifest::text() const {
  Json json{
      {"format", kCheckpointFormat}, {"step", step}, {"versions", {{"ordo", ORDO_VERSION}, {"torch", TORCH_VERSION}}}};
  json["files"] = Json::object();
  json["tensors"] = Json::object();
  for (const FileRecord& file : files) {
    json["files"][file.name] = file_json(file);
    if (file.safetensors()) json["tensors"][file.name] = tensors_json(file);
  }
  std::string text = json_text(json);
  text.resize(text.size() - std::string_view("\n}\n").size());
  text += ",\n";
  return text + closing_lines(text);
}

Manifest read_manifest(const fs::path& folder) {
  const fs::path path = folder / kManifestName;
  const std::string what = path.string();
  return with_checkpoint_errors([&] {
    std::error_code problem;
    require<CheckpointError>(fs::exists(fs::symlink_status(path, problem)),
                             "{} has no {}: it is no checkpoint, or was never finished", folder.string(),
                             kManifestName);
    require_regular_file(path);
    const std::string text = read_file(path);
    const size_t closing = closing_lines("").size();  // of one length whatever the sum
    const std::string_view before = std::string_view(text).substr(0, text.size() - std::min(text.size(), closing));
    require<CheckpointError>(text.substr(before.size()) == closing_lines(before),
                             "{} is damaged: its bytes have changed since they were written", what);
    const Json json = parse_json(text, what);
    require_known_format(json, what);
    try {
      return manifest_from(json);
    } catch (const nlohmann::json::exception& error) {
      throw CheckpointError(fmt::format("{} is no manifest of a checkpoint: {}", what, error.what()));
    }
  });
}

FileRecord record_of(const std::string& name, const SafetensorsSums& sums) {
  FileRecord file{.name = name, .size = sums.file_size, .xxh3 = {}, .header = hash_text(sums.header), .tensors = {}};
  for (const TensorChecksum& tensor : sums.tensors) file.tensors.emplace_back(tensor.name, hash_text(tensor.xxh3));
  return file;
}

FileRecord record_of(const std::string& name, std::string_view content) {
  return {.name = name, .size = content.size(), .xxh3 = hash_text(hash_bytes(content.data(), content.size()))};
}

void verify_folder(const fs::path& folder, const Manifest& manifest, bool bytes) {
  with_checkpoint_errors([&] {
    for (const std::string& name : files_below(folder))
      require<CheckpointError>(name == kManifestName || manifest.find(name) != nullptr,
                               "{} is no part of the checkpoint: remove it", (folder / name).string());
    for (const FileRecord& file : manifest.files) {
      const fs::path path = folder / file.name;
      require_regular_file(path);
      const uint64_t size = fs::file_size(path);
      require<CheckpointError>(size == file.size, "{} is damaged: it has {} bytes, {} were written", path.string(),
                               size, file.size);
    }
    if (!bytes) return;
    for (const FileRecord& file : manifest.files) verify_bytes(folder / file.name, file);
  });
}

}  // namespace ordo
