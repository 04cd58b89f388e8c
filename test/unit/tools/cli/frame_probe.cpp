// A tool that writes zeros: the frame of tools/cli with nothing in it, for test/tools/frame.py.
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "cli/output.hpp"
#include "cli/program.hpp"
#include "cli/progress.hpp"

using strom::ErrorCode;
using strom::Status;
using namespace strom::tool;

int main(int argc, char** argv) {
  OutputOptions output;
  ProgressOptions progress_options;
  int64_t bytes = 1000, rows = 10;
  bool slow = false, fail = false;
  std::string name;
  std::vector<std::string> files;
  OptionTable table("frame_probe", "writes zeros", "Writes zeros to a file.\n\nIt's a test.");
  table.group("Output");
  add_output_options(table, &output, "file of zeros");
  add_compression_option(table, &output);
  add_progress_option(table, &progress_options);
  table.group("Content");
  table.size('s', "size", &bytes, 0, "how much to write");
  table.number('n', "rows", &rows, 0, 1000, "how many pieces");
  table.flag(0, "slow", &slow, "take a second for each piece");
  table.flag(0, "fail", &fail, "fail before the end");
  table.text(0, "name", "NAME", &name, "printed at the end").also("title");
  table.exclusive({"slow", "fail"});
  table.positional(
      "FILE",
      [&](const std::string& file) {
        files.push_back(file);
        return Status::ok();
      },
      "anything", true, true);
  table.example("frame_probe -o zeros -s 1m", "a megabyte of zeros");
  return run_program(
      table, argc, argv,
      [&] { return name == "bad" ? Status(ErrorCode::kInvalidParameter, "a bad name") : Status::ok(); },
      [&]() -> Status {
        STROM_ASSIGN(const auto sink, open_output(output));
        Progress progress(progress_options, output.is_stream());
        progress.add_total(rows);
        const std::vector<char> zeros(static_cast<size_t>(bytes));
        for (int64_t row = 0; row < rows; ++row) {
          STROM_TRY(sink->append({{const_cast<char*>(zeros.data()), zeros.size()}}));
          progress.add(1, bytes);
          progress.add_done(1);
          progress.note("piece " + std::to_string(row));
          if (slow) std::this_thread::sleep_for(std::chrono::seconds(1));
        }
        if (fail)
          return Status(ErrorCode::kInternal, "failed on request").with_detail("Some detail.").with_hint("None.");
        progress.finish();
        STROM_TRY(sink->commit());
        if (!output.is_stream()) {
          printf("%s", name.c_str());
          for (const std::string& file : files) printf("|%s", file.c_str());
          printf("\n");
        }
        return Status::ok();
      });
}
