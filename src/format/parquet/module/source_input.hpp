// A file as libparquet's input. Each reader has its own.
#pragma once

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/result.h>

#include <algorithm>
#include <memory>

#include "format/parquet/module_abi.h"

namespace strom::parquet_module {

class SourceInput final : public ::arrow::io::RandomAccessFile {
 public:
  SourceInput(const strom_parquet_source& source, ::arrow::MemoryPool* pool) : source_(source), pool_(pool) {}

  ::arrow::Result<int64_t> GetSize() override { return source_.size; }
  ::arrow::Result<int64_t> Tell() const override { return position_; }
  bool closed() const override { return closed_; }
  ::arrow::Status Close() override {
    closed_ = true;
    return ::arrow::Status::OK();
  }
  ::arrow::Status Seek(int64_t position) override {
    if (position < 0 || position > source_.size)
      return ::arrow::Status::IOError("position ", position, " is outside of the file");
    position_ = position;
    return ::arrow::Status::OK();
  }
  ::arrow::Result<int64_t> Read(int64_t count, void* out) override {
    if (count < 0) return ::arrow::Status::IOError("a read of ", count, " bytes");
    count = std::min(count, source_.size - position_);
    if (count > 0) source_.read(source_.context, position_, count, out);
    position_ += count;
    return count;
  }
  ::arrow::Result<std::shared_ptr<::arrow::Buffer>> Read(int64_t count) override {
    if (count < 0) return ::arrow::Status::IOError("a read of ", count, " bytes");
    ARROW_ASSIGN_OR_RAISE(auto buffer, ::arrow::AllocateBuffer(std::min(count, source_.size - position_), pool_));
    ARROW_RETURN_NOT_OK(Read(buffer->size(), buffer->mutable_data()));
    return std::shared_ptr<::arrow::Buffer>(std::move(buffer));
  }

 private:
  const strom_parquet_source source_;
  ::arrow::MemoryPool* const pool_;
  int64_t position_ = 0;
  bool closed_ = false;
};

}  // namespace strom::parquet_module
