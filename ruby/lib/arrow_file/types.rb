# frozen_string_literal: true

require 'arrow_file/texts'

# Types of columns: which values of a record they accept, and how these are stored. Used by columns.rb and fields.rb.
#
# A type has `arrow`, its number in the union of types and the fields of its table; `cast`, which converts a value to
# the stored form, or returns nil if it cannot; `cast_text`, the same for a text of any bytes; `pack`, which makes the
# buffers of stored values; `filler`, which takes the place of a NULL; and `item`, a value in the form of statistics, or
# nil for a type without statistics.
module ArrowFile
  class Type
    DIGITS = /\A\s*[+-]?\d+\s*\z/.freeze
    NUMBER = /\A\s*[+-]?\d+(\.\d*)?([eE][+-]?\d{1,4})?\s*\z/.freeze

    def metadata
      {}
    end

    def cast_text(text)
      cast(Texts.clean(text))
    end

    def filler
      0
    end

    def item(_value)
      nil
    end

    # True if a column has statistics by default.
    def ordered?
      true
    end

    # The lowest and highest value, in the form of statistics; nil: unknown.
    def bounds(values)
      low, high = values.minmax
      low && [item(low), item(high)]
    end
  end

  class BoolType < Type
    WORDS = { 'true' => 1, 't' => 1, 'yes' => 1, 'y' => 1, 'on' => 1, '1' => 1, 'false' => 0, 'f' => 0, 'no' => 0, 'n' => 0, 'off' => 0,
              '0' => 0, true => 1, false => 0, 1 => 1, 0 => 0 }.freeze

    def arrow
      [6, []]
    end

    def cast(value)
      WORDS[value.is_a?(String) ? value.strip.downcase : value]
    end

    def ordered?
      false
    end

    def pack(values)
      [[values.join].pack('b*')]
    end
  end

  class IntType < Type
    FORMATS = { [8, true] => 'c*', [16, true] => 's<*', [32, true] => 'l<*', [64, true] => 'q<*',
                [8, false] => 'C*', [16, false] => 'S<*', [32, false] => 'L<*', [64, false] => 'Q<*' }.freeze

    def initialize(bits, signed)
      super()
      @bits = bits
      @signed = signed
      @format = FORMATS.fetch([bits, signed])
      @range = signed ? (-(1 << (bits - 1))..(1 << (bits - 1)) - 1) : (0..(1 << bits) - 1)
    end

    def arrow
      [2, [[:int32, @bits], [:bool, @signed]]]
    end

    def cast(value)
      unless value.is_a?(Integer)
        value = if value.is_a?(Float) && value.finite? && value == value.floor then value.to_i
                elsif value.is_a?(String) && DIGITS.match?(value) then value.to_i
                end
      end
      value if value && @range.cover?(value)
    end

    def item(value)
      value.to_s
    end

    def pack(values)
      [values.pack(@format)]
    end
  end

  class FloatType < Type
    def initialize(bits)
      super()
      @bits = bits
    end

    def arrow
      [3, [[:int16, { 16 => 0, 32 => 1, 64 => 2 }.fetch(@bits)]]]
    end

    def filler
      0.0
    end

    def cast(value)
      return value.to_f if value.is_a?(Numeric)
      return nil unless value.is_a?(String)

      case value.strip
      when NUMBER then value.to_f
      when /\A[+-]?inf(inity)?\z/i then value.strip.start_with?('-') ? -Float::INFINITY : Float::INFINITY
      when /\Anan\z/i then Float::NAN
      end
    end

    def ordered?
      @bits != 16
    end

    def bounds(values)
      values.any?(&:nan?) ? nil : super
    end

    def item(value)
      @bits == 32 ? [value].pack('e').unpack1('l<').to_s : [value].pack('E').unpack1('q<').to_s
    end

    def pack(values)
      case @bits
      when 16 then [values.map { |value| half(value) }.pack('S<*')]
      when 32 then [values.pack('e*')]
      else [values.pack('E*')]
      end
    end

    private

    # The nearest 16-bit floating-point number; ties go to even.
    def half(value)
      sign = ([value].pack('G').getbyte(0) & 0x80) << 8
      return sign | 0x7e00 if value.nan?

      fraction, exponent = Math.frexp(value.abs)
      return sign | 0x7c00 if value.infinite? || exponent > 16
      return sign if fraction.zero?

      step = [exponent - 11, -24].max
      units = (value.abs.to_r / (Rational(2)**step)).round(half: :even)
      # If rounding reaches the next power of two, this sum yields the next exponent.
      sign | [(step == -24 ? units : ((exponent + 14) << 10) + units - 0x400), 0x7c00].min
    end
  end

  class DecimalType < Type
    def initialize(precision, scale)
      super()
      @precision = precision
      @scale = scale
      @limit = 10**precision
    end

    def arrow
      [7, [[:int32, @precision], [:int32, @scale], [:int32, 128]]]
    end

    def cast(value)
      value = value.to_s if value.is_a?(Float)
      value = value.to_r if value.is_a?(String) && NUMBER.match?(value)
      return nil unless value.is_a?(Integer) || value.is_a?(Rational)

      unscaled = (value * 10**@scale).round
      unscaled if unscaled.abs < @limit
    end

    def item(value)
      value.to_s
    end

    def pack(values)
      mask = (1 << 64) - 1
      [values.flat_map { |value| [value & mask, (value >> 64) & mask] }.pack('Q<*')]
    end
  end

  class TextType < Type
    MOST_BYTES = 32

    def arrow
      [5, []]
    end

    def filler
      ''
    end

    def cast_text(text)
      Texts.clean(text)
    end

    def cast(value)
      case value
      when Hash, Array then Texts.json(value)
      else Texts.clean(value.to_s)
      end
    end

    def ordered?
      false
    end

    def bounds(values)
      low, high = values.minmax
      low && [quoted(start_of(low)), above(high)]
    end

    def item(value)
      quoted(value)
    end

    def pack(values)
      at = 0
      offsets = values.map { |value| at += value.bytesize }
      raise RangeError, 'a record batch has more than 2 GB of a text' if at > 0x7fffffff

      [[0, *offsets].pack('l<*'), values.join.b]
    end

    private

    def quoted(text)
      "\"#{text.b.gsub(/[^ -~]|["%,]/n) { |byte| format('%%%02X', byte.ord) }}\""
    end

    def start_of(text)
      return text if text.bytesize <= MOST_BYTES

      text.byteslice(0, MOST_BYTES).scrub('')
    end

    # An upper bound for all texts that begin with this one: the next text of the same length.
    def above(text)
      return quoted(text) if text.bytesize <= MOST_BYTES

      characters = start_of(text).chars
      while (last = characters.pop)
        following = last.ord == 0xd7ff ? 0xe000 : last.ord + 1
        following_text = following <= 0x10ffff ? [following].pack('U') : nil
        next if following_text.nil? || following_text.bytesize > last.bytesize

        return quoted(characters.join + following_text)
      end
      'null'
    end
  end

  class JsonType < TextType
    def metadata
      { 'pg_type' => 'pg_catalog.jsonb' }
    end
  end

  class BinaryType < TextType
    def arrow
      [4, []]
    end

    # Bytes stay as they are.
    def cast_text(text)
      text.b
    end

    def cast(value)
      super.b
    end

    def bounds(_values)
      nil
    end
  end

  class AddressType < Type
    def initialize(bytes)
      super()
      @bytes = bytes
    end

    def arrow
      [15, [[:int32, @bytes]]]
    end

    def metadata
      { 'pg_type' => 'pg_catalog.inet' }
    end

    def filler
      "\0" * @bytes
    end

    def ordered?
      false
    end

    def cast(value)
      return nil unless value.is_a?(String)

      @bytes == 4 ? four(value) : sixteen(value)
    end

    def pack(values)
      [values.join]
    end

    private

    def four(text)
      return nil unless /\A\d{1,3}(\.\d{1,3}){3}\z/.match?(text)

      parts = text.split('.').map(&:to_i)
      parts.pack('C4') if parts.max < 256
    end

    def sixteen(text)
      return nil unless /\A[0-9a-fA-F:.]*:[0-9a-fA-F:.]*\z/.match?(text)

      halves = text.split('::', -1)
      return nil if halves.size > 2

      sides = halves.map { |half| groups(half) }
      return nil if sides.any?(&:nil?)

      missing = 8 - sides.sum(&:size)
      return nil if halves.size == 1 ? missing != 0 : missing < 1

      (sides[0] + [0] * missing + (sides[1] || [])).pack('n8')
    end

    # The numbers between the colons; the last one may be an address of four bytes. nil for any other text.
    def groups(text)
      return [] if text.empty?

      parts = text.split(':', -1)
      last = parts.last.include?('.') ? four(parts.pop) : ''
      return nil if last.nil? || !parts.all? { |part| /\A[0-9a-fA-F]{1,4}\z/.match?(part) }

      parts.map(&:hex) + last.unpack('n*')
    end
  end
end
