# frozen_string_literal: true

require 'fiddle'

# Compression of record batches by the system's own libraries. Used by message.rb.
module ArrowFile
  class Codec
    # Most systems have the libraries without further packages. They are opened when they are needed.
    NAMES = { 'lz4' => 'liblz4.so.1', 'zstd' => 'libzstd.so.1' }.freeze
    SIZE = Fiddle::TYPE_SIZE_T
    POINTER = Fiddle::TYPE_VOIDP

    # The codec for the text none, lz4, zstd or zstd:5 (a level); nil for none. ArgumentError for other texts.
    def self.of(text)
      name, level = text.split(':', 2)
      return nil if name == 'none' && level.nil?
      raise ArgumentError, "\"#{text}\" is no compression; there are none, lz4 and zstd[:level]" unless NAMES.key?(name)
      raise ArgumentError, 'only zstd has levels' if level && name != 'zstd'
      raise ArgumentError, "zstd has the levels 1 to 22, not #{level}" if level && !(1..22).cover?(Integer(level, exception: false))

      name == 'lz4' ? Lz4.new : Zstd.new((level || 3).to_i)
    rescue Fiddle::DLError => e
      raise ArgumentError, "there is no library for #{text}: #{e.message}"
    end

    # A buffer in the form of a record batch: its size, then the compressed bytes; or -1, then the bytes themselves.
    def pack(buffer)
      return buffer if buffer.empty?

      packed = compress(buffer)
      packed.bytesize < buffer.bytesize ? [buffer.bytesize].pack('q<') + packed : [-1].pack('q<') + buffer
    end

    private

    def function(library, name, arguments, result)
      Fiddle::Function.new(library[name], arguments, result)
    end

    # `action` gets a buffer of `room` bytes and returns how many bytes it has filled.
    def filled(room)
      place = "\0".b * room
      size = yield place
      raise 'a buffer could not be compressed' if size.negative? || size > room

      place[0, size]
    end

    class Zstd < Codec
      def initialize(level)
        super()
        library = Fiddle.dlopen(NAMES['zstd'])
        @level = level
        @bound = function(library, 'ZSTD_compressBound', [SIZE], SIZE)
        @compress = function(library, 'ZSTD_compress', [POINTER, SIZE, POINTER, SIZE, Fiddle::TYPE_INT], SIZE)
      end

      def number
        1
      end

      def compress(buffer)
        room = @bound.call(buffer.bytesize)
        filled(room) { |place| @compress.call(place, room, buffer, buffer.bytesize, @level) }
      end
    end

    class Lz4 < Codec
      def initialize
        super
        library = Fiddle.dlopen(NAMES['lz4'])
        @bound = function(library, 'LZ4F_compressFrameBound', [SIZE, POINTER], SIZE)
        @compress = function(library, 'LZ4F_compressFrame', [POINTER, SIZE, POINTER, SIZE, POINTER], SIZE)
      end

      def number
        0
      end

      def compress(buffer)
        room = @bound.call(buffer.bytesize, nil)
        filled(room) { |place| @compress.call(place, room, buffer, buffer.bytesize, nil) }
      end
    end
  end
end
