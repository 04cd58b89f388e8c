// Capture files into Arrow files, by several threads.
#pragma once

#include "cli/progress.hpp"
#include "pcap2arrow/output.hpp"
#include "pcap2arrow/settings.hpp"

namespace strom::pcap2arrow {

/// The columns that were chosen. kInvalidParameter for an unknown protocol.
Result<format::packets::ColumnChoice> column_choice(const Settings& settings);

Result<Written> convert(const Settings& settings, tool::Progress& progress);

}  // namespace strom::pcap2arrow
