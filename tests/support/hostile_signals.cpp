// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "support/hostile_corpora.h"
#include "support/signal_files.h"

namespace ordo::test {

namespace {

// Days of January, each with a value that goes up and down; the rows of some are other ones.
std::string january(const std::vector<std::pair<int, std::string>>& others = {}) {
  std::string text = "date,value,other\n";
  for (int day = 1; day <= 30; ++day) {
    std::string row = fmt::format("2020-01-{:02},{},{}", day, day % 4, day % 3);
    for (const auto& [at, other] : others)
      if (at == day) row = other;
    text += row + "\n";
  }
  return text;
}

std::string two_classes(const std::string& third_row) { return "0,9,9,0,up\n9,0,0,9,down\n" + third_row + "\n"; }

std::string some_png(const std::string& pixels = "abcd") { return png_file(2, 2, 1, pixels); }
std::string some_wav(double hertz) { return wav_file(tone(hertz, 800)); }
std::string half_of(const std::string& bytes) { return bytes.substr(0, bytes.size() / 2); }

}  // namespace

HostileFamily hostile_series() {
  const std::string config = R"(
device: cpu
task: {kind: forecasting, data: {file: FOLDER/a.csv, date: date}, rows: {train: 18, validation: 6, test: 6}, horizon: 2}
model: {kind: encoder, input: {kind: values, patch: 2}, pool: flatten, dim: 8, layers: 1, attention: {heads: 2}, position: learned}
train: {steps: 2, batch_size: 2, length: 4}
)";
  const auto table = [](int day, const std::string& row) {
    return std::vector<std::pair<std::string, std::string>>{{"a.csv", january({{day, row}})}};
  };
  std::string constant = "date,value,other\n", header_alone = "date,value,other\n";
  for (int day = 1; day <= 30; ++day) constant += fmt::format("2020-01-{:02},{},7\n", day, day % 4);
  return {
      config,
      {
          {"a table as it should be", {{"a.csv", january()}}, {"30 rows from 2020-01-01"}, {}, kIsRead},
          {"NaN",
           table(3, "2020-01-03,nan,1"),
           {"FOLDER/a.csv: line 4: column 2 ('value'): expected a finite number, found 'nan'"}},
          {"infinity",
           table(3, "2020-01-03,1,-inf"),
           {"FOLDER/a.csv: line 4: column 3 ('other'): expected a finite number, found '-inf'"}},
          {"more than a number can hold",
           table(3, "2020-01-03,1e999,1"),
           {"FOLDER/a.csv: line 4: column 2 ('value')", "found '1e999'"}},
          {"a word for a number",
           table(3, "2020-01-03,n/a,1"),
           {"FOLDER/a.csv: line 4: column 2 ('value')", "found 'n/a'"}},
          {"a blank cell",
           table(3, "2020-01-03, ,1"),
           {"FOLDER/a.csv: line 4: column 2 ('value'): the cell is blank", "task.data.missing"}},
          {"a blank cell, to be hidden",
           table(3, "2020-01-03, ,1"),
           {"1 missing cells, which are never asked for"},
           {"task.data.missing=mask"},
           kIsRead},
          {"a comma in a number", table(3, "2020-01-03,1,5,1"), {"FOLDER/a.csv: line 4: expected 3 cells, found 4"}},
          {"a day that is none",
           table(30, "2020-01-32,1,1"),
           {"FOLDER/a.csv: line 31: column 1 ('date'): expected a date", "found '2020-01-32'"}},
          {"a day twice",
           table(3, "2020-01-02,1,1"),
           {"FOLDER/a.csv: line 4: column 1 ('date'): this is the moment of line 3"}},
          {"a day twice, of which the first is taken",
           table(3, "2020-01-02,1,1"),
           {"1 rows of a moment that was there already, left out"},
           {"task.data.repeated=first", "task.rows={train: 18, validation: 6, test: 5}"},
           kIsRead},
          {"a cell and a day that are none, to be skipped",
           {{"a.csv", january({{3, "2020-01-03,n/a,1"}, {7, "someday,1,1"}})}},
           {"28 rows from 2020-01-01", "2 lines left out: FOLDER/a.csv: line 4: column 2 ('value')",
            "FOLDER/a.csv: line 8: column 1 ('date'): expected a date"},
           {"task.data.on_bad_line=skip", "task.rows={train: 18, validation: 6, test: 4}"},
           kIsRead},
          {"rows of which none is left",
           {{"a.csv", "date,value\n2020-01-01,x\n2020-01-02,y\n"}},
           {"FOLDER/a.csv: no row is left: 2 lines left out: FOLDER/a.csv: line 2: column 2 ('value')"},
           {"task.data.on_bad_line=skip"}},
          {"days out of order",
           table(3, "2019-01-03,1,1"),
           {"FOLDER/a.csv: line 4: column 1 ('date'): 2019-01-03 00:00:00 is before line 3"}},
          {"a channel that never changes",
           {{"a.csv", constant}},
           {"FOLDER/a.csv: channel 'other' is constant over its 18 training rows"}},
          {"values whose squares overflow",
           table(3, "2020-01-03,1e200,1"),
           {"FOLDER/a.csv: channel 'value' has values so large"}},
          {"too few rows",
           {{"a.csv", january()}},
           {"FOLDER/a.csv has 30 rows, fewer than task.rows asks for"},
           {"task.rows={train: 20, validation: 6, test: 6}"}},
          {"no rows", {{"a.csv", header_alone}}, {"FOLDER/a.csv: there is no row behind the header"}},
          {"nought, of which there is no logarithm",
           {{"a.csv", january()}},
           {"FOLDER/a.csv: line 4: column 3 ('other'): 0 has no logarithm"},
           {"task.data.values=log"}},
      }};
}

HostileFamily hostile_images() {
  const std::string config = R"(
device: cpu
task: {kind: image_classification, data: {train: FOLDER/a.csv}}
model: {kind: encoder, input: {kind: patches, size: 1}, dim: 8, layers: 1, attention: {heads: 2}, position: learned, pool: mean}
train: {steps: 2, batch_size: 2, length: 2}
)";
  const auto row = [](const std::string& third) {
    return std::vector<std::pair<std::string, std::string>>{{"a.csv", two_classes(third)}};
  };
  const std::vector<std::string> idx{"task.data.train=FOLDER/images", "task.data.train_labels=FOLDER/labels"};
  const std::vector<std::string> folder{"task.data.train=FOLDER/all"};
  const std::string skip = "task.data.on_bad_line=skip";
  const std::string labels = idx_file({2}, std::string("\0\1", 2)), images = idx_file({2, 2, 2}, "abcdefgh");
  const auto dog = [](const std::string& bytes) {
    return std::vector<std::pair<std::string, std::string>>{{"all/cat/1.png", some_png()}, {"all/dog/1.png", bytes}};
  };
  const auto dogs = [](const std::string& bytes) {
    return std::vector<std::pair<std::string, std::string>>{
        {"all/cat/1.png", some_png()}, {"all/dog/1.png", bytes}, {"all/dog/2.png", some_png("bcda")}};
  };
  return {
      config,
      {
          {"a pixel too few", row("1,2,3,up"), {"FOLDER/a.csv: line 3: expected 5 cells, found 4"}},
          {"a pixel that is no number",
           row("1,2,x,4,up"),
           {"FOLDER/a.csv: line 3: column 3: expected a finite number, found 'x'"}},
          {"a pixel of NaN",
           row("1,nan,3,4,up"),
           {"FOLDER/a.csv: line 3: column 2: expected a finite number, found 'nan'"}},
          {"a pixel that is blank",
           row("1,,3,4,up"),
           {"FOLDER/a.csv: line 3: column 2: expected a finite number, found a blank cell"}},
          {"a label outside the set",
           row("1,2,3,4,left"),
           {"FOLDER/a.csv: line 3: there is no class 'left'"},
           {"task.classes=[up, down]"}},
          {"a blank label", row("1,2,3,4,"), {"FOLDER/a.csv: line 3", "the label is empty"}},
          {"rows that cannot be read, to be skipped",
           row("1,2,x,4,up\n1,2,3,up"),
           {"train: 2 examples", "2 examples left out: FOLDER/a.csv: line 4: expected 5 cells, found 4",
            "FOLDER/a.csv: line 3: column 3"},
           {skip},
           kIsRead},
          {"a class whose only row cannot be read",
           row("1,2,x,4,left"),
           {"no example of class 'left' is left: 1 example left out: FOLDER/a.csv: line 3"},
           {skip}},
          {"images of IDX files, to be skipped",
           {{"images", images}, {"labels", labels}},
           {"task.data.on_bad_line: skip", "FOLDER/images is read as an IDX file"},
           {idx[0], idx[1], skip},
           kSettingsWrong},
          {"pixels of no square",
           {{"a.csv", "1,2,3,up\n3,2,1,down\n"}},
           {"FOLDER/a.csv: the 3 columns beside the label are no square"},
           {},
           kSettingsWrong},
          {"images cut off", {{"images", half_of(images)}, {"labels", labels}}, {"FOLDER/images", "cut off"}, idx},
          {"images without their labels",
           {{"images", images}, {"labels", idx_file({1}, std::string(1, '\0'))}},
           {"FOLDER/images has 2 images, but FOLDER/labels has 1 labels"},
           idx},
          {"labels in place of images",
           {{"images", labels}, {"labels", labels}},
           {"FOLDER/images has 1 dimensions, expected 3"},
           idx},
          {"an image of 0 bytes", dog(""), {"FOLDER/all/dog/1.png is empty; a PNG or JPEG image is expected"}, folder},
          {"an image cut off",
           dog(half_of(some_png())),
           {"FOLDER/all/dog/1.png: this PNG cannot be read", "damaged or cut off"},
           folder},
          {"a text for an image",
           dog("no image\n"),
           {"FOLDER/all/dog/1.png is neither PNG nor JPEG but something else"},
           folder},
          {"another format", dog("GIF89a...."), {"FOLDER/all/dog/1.png is neither PNG nor JPEG but GIF"}, folder},
          {"an image of another size",
           dog(png_file(1, 2, 1, "ab")),
           {"FOLDER/all/dog/1.png has 2 rows and 1 columns of pixels, but FOLDER/all/cat/1.png has 2 and 2"},
           folder},
          {"few bytes that claim billions of pixels",
           dog(png_header(60'000, 60'000, 1) + png_part("IDAT", "") + png_part("IEND", "")),
           {"FOLDER/all/dog/1.png: 60000 x 60000 pixels, more than"},
           folder},
          {"an image cut off, to be skipped",
           dogs(half_of(some_png())),
           {"train: 2 examples", "1 example left out: FOLDER/all/dog/1.png: this PNG cannot be read"},
           {folder[0], skip},
           kIsRead},
          {"an image of another size than most, to be skipped",
           dogs(png_file(1, 2, 3, "abcdef")),
           {"images of 1 channel, 2 rows and 2 columns", "train: 2 examples",
            "1 example left out: FOLDER/all/dog/1.png has 2 rows and 1 columns"},
           {folder[0], skip},
           kIsRead},
          {"a class of which no image can be read",
           dog(""),
           {"no example of class 'dog' is left: 1 example left out: FOLDER/all/dog/1.png is empty"},
           {folder[0], skip}},
          {"a class without a file",
           {{"all/cat/1.png", some_png()}, {"all/dog/", ""}},
           {"FOLDER/all/dog: the class 'dog' has no files"},
           folder},
          {"images without the folder of a class",
           {{"all/1.png", some_png()}},
           {"FOLDER/all has no sub-folders"},
           folder},
          {"images that are all alike", dog(some_png()), {"train: 2 examples", "2 classes"}, folder, kIsRead},
      }};
}

HostileFamily hostile_sounds() {
  const std::string config = R"(
device: cpu
task: {kind: audio_classification, data: {train: FOLDER/all}, features: {sample_rate: 8000, mels: 4}}
model: {kind: encoder, input: {kind: frames}, dim: 8, layers: 1, attention: {heads: 2}, position: sinusoidal, pool: mean}
train: {steps: 2, batch_size: 2, length: 10}
)";
  const auto low = [](const std::string& bytes) {
    return std::vector<std::pair<std::string, std::string>>{{"all/high/1.wav", some_wav(900.0)},
                                                            {"all/low/1.wav", bytes}};
  };
  return {config,
          {
              {"a sound of 0 bytes", low(""), {"FOLDER/all/low/1.wav is empty; a sound is expected"}},
              {"a sound cut off",
               low(half_of(some_wav(300.0))),
               {"FOLDER/all/low/1.wav: its header says 1644 bytes, found 822; the file is cut off"}},
              {"a header alone", low(wav_file({})), {"FOLDER/all/low/1.wav has no samples"}},
              {"a text for a sound", low("no sound\n"), {"FOLDER/all/low/1.wav: this is no sound that can be read"}},
              {"a sound cut off, to be skipped",
               {{"all/high/1.wav", some_wav(900.0)},
                {"all/low/1.wav", half_of(some_wav(300.0))},
                {"all/low/2.wav", some_wav(300.0)}},
               {"train: 2 examples", "1 example left out: FOLDER/all/low/1.wav: its header says"},
               {"task.data.on_bad_line=skip"},
               kIsRead},
              {"a class of which no sound can be read",
               low(""),
               {"no example of class 'low' is left: 1 example left out: FOLDER/all/low/1.wav is empty"},
               {"task.data.on_bad_line=skip"}},
              {"silence", low(wav_file(std::vector<int16_t>(800))), {"train: 2 examples"}, {}, kIsRead},
              {"one sample", low(wav_file({7})), {"train: 2 examples", "sounds of 1 to "}, {}, kIsRead},
              {"a rate of ten hertz",
               low(wav_file(tone(300.0, 80), 10)),
               {"FOLDER/all/low/1.wav", "sound of 10 Hz cannot be resampled"}},
              {"a sound longer than the longest row",
               low(wav_file(tone(300.0, 8000))),
               {"train.length", "FOLDER/all/low/1.wav", "task.too_long: cut"},
               {},
               kSettingsWrong},
              {"a name that says no class",
               low(some_wav(300.0)),
               {"FOLDER/all/high/1.wav: its name does not fit '{class}_{take}'"},
               {"task.data.train=FOLDER/all/*/*.wav", "task.data.name=\"{class}_{take}\""}},
              {"a class without a sound",
               {{"all/high/1.wav", some_wav(900.0)}, {"all/low/", ""}},
               {"FOLDER/all/low: the class 'low' has no files"}},
          }};
}

}  // namespace ordo::test
