// Turns the statistics of a column chunk into bounds of the Arrow column that the chunk is read as.
#pragma once

#include <arrow/type.h>
#include <parquet/metadata.h>
#include <parquet/schema.h>

#include "format/parquet/module_abi.h"

namespace strom::parquet_module {

/// Sets null count and bounds of `result`, if the chunk has trustworthy statistics.
void read_statistics(const ::parquet::ColumnChunkMetaData& chunk, const ::parquet::ColumnDescriptor& column,
                     const ::arrow::DataType& type, strom_parquet_column* result);

}  // namespace strom::parquet_module
