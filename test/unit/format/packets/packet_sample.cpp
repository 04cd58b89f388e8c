// Writes small capture files into a folder, as seeds of the fuzzer: packet_sample FOLDER
#include <fstream>

#include "packet_samples.hpp"

using namespace strom::test;

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string folder = argv[1];
  const auto write = [&](const char* name, const std::string& bytes) {
    std::ofstream(folder + "/" + name, std::ios::binary) << bytes;
  };
  const auto packets = sample_packets();
  write("little.pcap", pcap_file(packets));
  write("big.pcap", pcap_file(packets, true, true));
  for (const uint32_t link : {0u, 9u, 101u, 113u, 276u}) {
    std::string name = "link" + std::to_string(link) + ".pcap";
    write(name.c_str(), pcap_file(packets, false, false, link));
  }
  std::string pcapng;
  for (const bool is_big : {false, true}) {
    pcapng += pcapng_section(is_big) + pcapng_interface(is_big);
    for (const std::string& packet : packets) pcapng += pcapng_packet(packet, 1000000, is_big);
  }
  write("both.pcapng", pcapng);
  return 0;
}
