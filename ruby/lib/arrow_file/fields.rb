# frozen_string_literal: true

require 'arrow_file/time_types'

# Columns as defined by `schema_defs`: NAME=TYPE[;ATTRIBUTE], separated by commas. Used by the plugin.
module ArrowFile
  Field = Struct.new(:name, :type, :statistics)

  module Fields
    INTEGERS = { 'Int' => true, 'Uint' => false }.freeze

    module_function

    # The fields that a text defines. ArgumentError names the invalid part.
    def parse(text)
      fields = parts(text).map { |part| field(part) }
      raise ArgumentError, 'schema_defs has no columns' if fields.empty?

      names = fields.map(&:name)
      twice = names.find { |name| names.count(name) > 1 }
      raise ArgumentError, "schema_defs has two columns \"#{twice}\"" if twice

      fields
    end

    # The parts between commas outside of brackets.
    def parts(text)
      text.scan(/(?:[^,\[(]|\[[^\]]*\]|\([^)]*\))+/).map(&:strip).reject(&:empty?)
    end

    def field(part)
      definition, *attributes = part.split(';').map(&:strip)
      name, type = definition.to_s.split('=', 2).map(&:strip)
      raise ArgumentError, "\"#{part}\" in schema_defs is not NAME=TYPE" if name.nil? || name.empty? || type.nil? || type.empty?

      field = Field.new(name, type(type))
      field.statistics = field.type.ordered?
      attributes.each { |attribute| set(field, attribute) }
      field
    end

    def set(field, attribute)
      case attribute
      when 'stat_enabled'
        unless field.type.ordered? || field.type.instance_of?(TextType)
          raise ArgumentError, "column \"#{field.name}\" can have no statistics"
        end

        field.statistics = true
      when 'stat_disabled' then field.statistics = false
      else raise ArgumentError, "\"#{attribute}\" of column \"#{field.name}\" is none of stat_enabled and stat_disabled"
      end
    end

    def type(text)
      found = /\A([A-Za-z]+)(\d*)(?:[\[(]([^\])]*)[\])])?\z/.match(text)
      made = found && make(found[1], found[2], found[3]&.split(',')&.map(&:strip) || [])
      made or raise ArgumentError, "\"#{text}\" in schema_defs is no type"
    end

    # nil if there is no such type.
    def make(name, size, more)
      case name
      when 'Int', 'Uint' then IntType.new(size.to_i, INTEGERS[name]) if %w[8 16 32 64].include?(size) && more.empty?
      when 'Float' then FloatType.new(size.to_i) if %w[16 32 64].include?(size) && more.empty?
      when 'Ipaddr' then AddressType.new(size == '4' ? 4 : 16) if %w[4 6].include?(size) && more.empty?
      when 'Decimal' then decimal(size, more)
      when 'Timestamp' then timestamp(*more) if size.empty? && more.size <= 2
      when 'Time' then ClockType.new(more[0] || 'us') if size.empty? && unit?(more)
      when 'Date' then DateType.new(more[0] || 'day') if size.empty? && (more - %w[day ms]).empty? && more.size <= 1
      when 'Bool', 'Utf', 'Binary' then plain(name + size) if more.empty?
      end
    end

    def plain(name)
      { 'Bool' => BoolType, 'Utf8' => TextType, 'Binary' => BinaryType }[name]&.new
    end

    def unit?(more)
      more.size <= 1 && more.all? { |unit| TimeType::UNITS.key?(unit) }
    end

    def timestamp(unit = 'us', zone = nil)
      TimestampType.new(unit, zone) if TimeType::UNITS.key?(unit) && (zone.nil? || zone == 'UTC')
    end

    # Decimal, Decimal128 and Decimal[128], each optionally with [PRECISION,SCALE].
    def decimal(size, more)
      more = [] if more == ['128']
      return nil unless ['', '128'].include?(size) && [0, 2].include?(more.size) && more.all? { |part| /\A\d+\z/.match?(part) }

      precision, scale = more.empty? ? [38, 9] : more.map(&:to_i)
      DecimalType.new(precision, scale) if precision.between?(1, 38) && scale <= precision
    end
  end
end
