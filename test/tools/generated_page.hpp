// The command line of programs that make a page of the documentation: prints the page, or with --check FILE tells
// whether FILE is that page. Used by settings_page and functions_page.
#pragma once

#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

/// The exit status of the program `name`.
inline int generated_page(int argc, char** argv, const char* name, const std::string& page) {
  if (argc == 1) {
    std::cout << page;
    return 0;
  }
  if (argc != 3 || std::strcmp(argv[1], "--check") != 0) {
    std::cerr << "usage: " << name << " [--check FILE]\n";
    return 2;
  }
  std::ifstream file(argv[2]);
  std::stringstream content;
  content << file.rdbuf();
  if (file && content.str() == page) return 0;
  std::cerr << argv[2] << " is not what " << name << " prints\n";
  return 1;
}
