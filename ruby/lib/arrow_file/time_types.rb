# frozen_string_literal: true

require 'arrow_file/types'

# Types of times and dates. Used by fields.rb.
module ArrowFile
  class TimeType < Type
    UNITS = { 'sec' => 0, 'ms' => 1, 'us' => 2, 'ns' => 3 }.freeze
    DAY = 86_400
    DATE = /(\d{4,6})-(\d\d)-(\d\d)/.freeze
    CLOCK = /(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?/.freeze
    ZONE = /\s*(?:(Z|UTC|GMT)|([+-])(\d\d):?(\d\d)?)?/i.freeze
    DATE_ONLY = /\A#{DATE}\z/.freeze
    CLOCK_ONLY = /\A#{CLOCK}\z/.freeze
    MOMENT = /\A#{DATE}(?:[T ]#{CLOCK}#{ZONE})?\z/.freeze

    def item(value)
      value.to_s
    end

    private

    # Days since 1970; nil for an invalid day.
    def days(year, month, day)
      moment = Time.utc(year, month, day)
      moment.day == day.to_i && moment.month == month.to_i ? moment.to_i / DAY : nil
    rescue ArgumentError
      nil
    end

    # Seconds since midnight, exactly; nil for an invalid time.
    def seconds(hour, minute, second, fraction)
      hour, minute, second = [hour, minute, second].map(&:to_i)
      return nil if hour > 23 || minute > 59 || second > 59

      whole = hour * 3600 + minute * 60 + second
      fraction ? whole + Rational(fraction.to_i, 10**fraction.size) : whole
    end
  end

  # Numbers are seconds since 1970; texts without a zone are in UTC.
  class TimestampType < TimeType
    def initialize(unit, zone)
      super()
      @unit = UNITS.fetch(unit)
      @scale = 1000**@unit
      @zone = zone
    end

    def arrow
      [10, [[:int16, @unit], @zone && [:string, @zone]]]
    end

    def cast(value)
      ticks = value.respond_to?(:nsec) ? value.to_i * @scale + value.nsec * @scale / 1_000_000_000 : of_number(value)
      ticks if ticks && ticks.abs < 1 << 63
    end

    def pack(values)
      [values.pack('q<*')]
    end

    private

    def of_number(value)
      value = moment(value) if value.is_a?(String)
      case value
      when Integer then value * @scale
      when Rational then (value * @scale).floor
      when Float then (value * @scale).round if value.finite?
      end
    end

    def moment(text)
      found = MOMENT.match(text.strip) or return nil
      day = days(*found[1..3]) or return nil
      return day * DAY if found[4].nil?

      clock = seconds(*found[4..7]) or return nil
      offset = found[9] ? (found[10].to_i * 60 + found[11].to_i) * 60 : 0
      day * DAY + clock - (found[9] == '-' ? -offset : offset)
    end
  end

  class DateType < TimeType
    def initialize(unit)
      super()
      @days = unit == 'day'
    end

    def arrow
      [8, [[:int16, @days ? 0 : 1]]]
    end

    def cast(value)
      day = if value.respond_to?(:nsec) then value.to_i / DAY
            elsif value.is_a?(String) && (found = DATE_ONLY.match(value.strip)) then days(*found[1..3])
            end
      day && (@days ? day : day * DAY * 1000)
    end

    def pack(values)
      [values.pack(@days ? 'l<*' : 'q<*')]
    end
  end

  # Numbers are seconds since midnight.
  class ClockType < TimeType
    def initialize(unit)
      super()
      @unit = UNITS.fetch(unit)
      @scale = 1000**@unit
    end

    def arrow
      [9, [[:int16, @unit], [:int32, bits]]]
    end

    def cast(value)
      value = of_text(value) if value.is_a?(String)
      return nil unless value.is_a?(Numeric) && !(value.is_a?(Float) && !value.finite?)

      ticks = (value * @scale).floor
      ticks if ticks >= 0 && ticks < DAY * @scale
    end

    def pack(values)
      [values.pack(bits == 32 ? 'l<*' : 'q<*')]
    end

    private

    def of_text(text)
      found = CLOCK_ONLY.match(text.strip)
      found && seconds(*found[1..4])
    end

    def bits
      @unit < 2 ? 32 : 64
    end
  end
end
