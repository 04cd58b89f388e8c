// See sample_groups.hpp.
#include "vcf2arrow/sample_groups.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "base/os_error.hpp"

namespace strom::vcf2arrow {

Result<std::vector<SampleGroup>> read_sample_groups(const std::string& path) {
  std::ifstream file(path);
  if (!file) return base::os_error(errno, "could not read \"" + path + "\"");
  std::vector<SampleGroup> groups;
  int64_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty()) continue;
    const size_t tab = line.find('\t');
    if (tab == 0 || tab == std::string::npos || tab + 1 == line.size() || line.find('\t', tab + 1) != std::string::npos)
      return Status(ErrorCode::kInvalidParameter, "line " + std::to_string(number) + " of file \"" + path +
                                                      "\" is not a sample, a tab and the name of a group");
    const std::string name = line.substr(tab + 1);
    auto found = std::find_if(groups.begin(), groups.end(), [&](const auto& group) { return group.name == name; });
    if (found == groups.end()) found = groups.insert(groups.end(), {name, {}});
    found->samples.push_back(line.substr(0, tab));
  }
  if (file.bad()) return base::os_error(errno, "could not read \"" + path + "\"");
  if (groups.empty()) return Status(ErrorCode::kInvalidParameter, "file \"" + path + "\" has no groups of samples");
  return groups;
}

}  // namespace strom::vcf2arrow
