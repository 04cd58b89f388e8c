# frozen_string_literal: true

require 'arrow_file/flat_buffer'

# The parts of an Arrow IPC file: schema, record batches, footer. Used by output_file.rb.
module ArrowFile
  module Message
    include FlatBuffer

    MAGIC = 'ARROW1'
    VERSION = 4 # V5
    ALIGNMENT = 64
    END_OF_STREAM = [0xffffffff, 0].pack('L<2')
    SCHEMA = 1
    RECORD_BATCH = 3

    # The bytes of a record batch, and its facts for the footer.
    Batch = Struct.new(:metadata, :body, :rows)
    Block = Struct.new(:offset, :metadata_size, :body_size)

    module_function

    # The beginning of a file.
    def head(fields)
      "#{MAGIC}\0\0".b + encapsulated(SCHEMA, schema(fields, {}), 0)
    end

    # `columns`: Columns. `codec`: nil or a Codec.
    def batch(columns, rows, codec)
      body = String.new(encoding: Encoding::BINARY)
      nodes = +''
      buffers = []
      columns.each do |column|
        nodes << [rows, column.null_count].pack('q<2')
        column.buffers.each do |buffer|
          buffer = codec.pack(buffer) if codec
          buffers << [body.bytesize, buffer.bytesize].pack('q<2')
          body << buffer << "\0" * (-buffer.bytesize % ALIGNMENT)
        end
      end
      compression = codec && FlatBuffer::Table.new([:int8, codec.number], [:int8, 0])
      header = FlatBuffer::Table.new([:int64, rows], [:structs, [columns.size, nodes]], [:structs, [buffers.size, buffers.join]],
                                     compression && [:table, compression])
      Batch.new(encapsulated(RECORD_BATCH, header, body.bytesize), body, rows)
    end

    # The end of a file. `metadata`: of the file; `statistics`: a Hash for each field.
    def tail(fields, blocks, metadata, statistics)
      packed = blocks.map { |block| [block.offset, block.metadata_size, block.body_size].pack('q<l<x4q<') }.join
      footer = FlatBuffer.bytes(FlatBuffer::Table.new([:int16, VERSION], [:table, schema(fields, metadata, statistics)], [:structs, [0, '']],
                                                      [:structs, [blocks.size, packed]]))
      END_OF_STREAM + footer + [footer.bytesize].pack('l<') + MAGIC
    end

    def schema(fields, metadata, statistics = [])
      tables = fields.each_with_index.map { |field, i| field_table(field, field.type.metadata.merge(statistics[i] || {})) }
      FlatBuffer::Table.new([:int16, 0], [:tables, tables], pairs(metadata))
    end

    def field_table(field, metadata)
      id, parts = field.type.arrow
      FlatBuffer::Table.new([:string, field.name], [:bool, true], [:uint8, id], [:table, FlatBuffer::Table.new(*parts)], nil,
                            [:tables, []], pairs(metadata))
    end

    def pairs(metadata)
      return nil if metadata.empty?

      [:tables, metadata.map { |key, value| FlatBuffer::Table.new([:string, key], [:string, value]) }]
    end

    def encapsulated(kind, header, body_size)
      message = FlatBuffer.bytes(FlatBuffer::Table.new([:int16, VERSION], [:uint8, kind], [:table, header], [:int64, body_size]))
      message << "\0" * (-(message.bytesize + 8) % ALIGNMENT)
      [0xffffffff, message.bytesize].pack('L<2') + message
    end
  end
end
