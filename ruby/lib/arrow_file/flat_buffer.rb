# frozen_string_literal: true

# Writes FlatBuffers from the front: a table precedes what it refers to, so each reference points forward, as the format
# requires. Used by message.rb.
module ArrowFile
  module FlatBuffer
    SCALARS = { bool: ['C', 1], int8: ['c', 1], uint8: ['C', 1], int16: ['s<', 2], int32: ['l<', 4], int64: ['q<', 8] }.freeze

    # A table: its fields in the order of the schema, each [kind, value], or nil for a missing field. Kinds are those of
    # SCALARS; :string, a text; :table, a Table; :tables, an Array of them; :structs, [count, bytes], aligned to 8
    # bytes.
    class Table
      attr_reader :fields

      def initialize(*fields)
        @fields = fields
      end
    end

    # The bytes of a buffer whose root is `table`.
    def self.bytes(table)
      Writer.new.root(table)
    end

    # A buffer under construction.
    class Writer
      def initialize
        @out = String.new(encoding: Encoding::BINARY)
      end

      def root(table)
        put([0].pack('L<'))
        refer(0, write_table(table))
        pad(8)
        @out
      end

      private

      def put(bytes)
        @out << bytes
      end

      # Pads so that the position `ahead` bytes behind the end is aligned.
      def pad(alignment, ahead = 0)
        put("\0") until ((@out.bytesize + ahead) % alignment).zero?
      end

      def refer(place, target)
        @out[place, 4] = [target - place].pack('L<')
      end

      def write_table(table)
        offsets, size = layout(table.fields)
        vtable_size = 4 + 2 * offsets.size
        pad(8, vtable_size)
        vtable = @out.bytesize
        put([vtable_size, size, *offsets].pack('S<*'))
        start = @out.bytesize
        put("\0" * size)
        @out[start, 4] = [start - vtable].pack('l<')
        table.fields.each_with_index do |(kind, value), i|
          next if kind.nil?

          place = start + offsets[i]
          if (scalar = SCALARS[kind])
            value = value ? 1 : 0 if kind == :bool
            @out[place, scalar[1]] = [value].pack(scalar[0])
          else
            refer(place, write_object(kind, value))
          end
        end
        start
      end

      # The offset of each field in the table, 0 for a missing field, and the table's size.
      def layout(fields)
        at = 4
        offsets = fields.map do |kind, _|
          next 0 if kind.nil?

          width = SCALARS.dig(kind, 1) || 4
          at += -at % width
          at += width
          at - width
        end
        [offsets, at]
      end

      def write_object(kind, value)
        case kind
        when :table then write_table(value)
        when :string then write_string(value)
        when :tables then write_tables(value)
        when :structs then write_structs(*value)
        else raise ArgumentError, "no kind #{kind}"
        end
      end

      def write_string(text)
        pad(4)
        start = @out.bytesize
        put([text.bytesize].pack('L<'))
        put(text.b)
        put("\0")
        start
      end

      def write_tables(tables)
        pad(4)
        start = @out.bytesize
        put([tables.size].pack('L<'))
        put("\0" * (4 * tables.size))
        tables.each_with_index { |table, i| refer(start + 4 + 4 * i, write_table(table)) }
        start
      end

      def write_structs(count, bytes)
        pad(8, 4)
        start = @out.bytesize
        put([count].pack('L<'))
        put(bytes)
        start
      end
    end
  end
end
