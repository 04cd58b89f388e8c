# frozen_string_literal: true

require 'arrow_file/fields'

# The columns of a record batch's rows. Used by the plugin and message.rb.
module ArrowFile
  class Column
    attr_reader :field

    def initialize(field)
      @field = field
      @type = field.type
      @filler = @type.filler
      @values = []
      @nulls = []
    end

    # Appends a value that cast() has made; nil is NULL.
    def append(value)
      if value.nil?
        @nulls << @values.size
        @values << @filler
      else
        @values << value
      end
    end

    def null_count
      @nulls.size
    end

    # The validity bitmap and the buffers of the type.
    def buffers
      [validity, *@type.pack(@values)]
    end

    # The values of min_values and max_values; nil: unknown.
    def bounds
      return nil unless @field.statistics

      values = @values
      unless @nulls.empty?
        absent = @nulls.each_with_object({}) { |row, rows| rows[row] = true }
        values = values.each_index.reject { |row| absent[row] }.map { |row| values[row] }
      end
      @type.bounds(values)
    end

    private

    def validity
      return '' if @nulls.empty?

      bits = '1' * @values.size
      @nulls.each { |row| bits[row] = '0' }
      [bits].pack('b*')
    end
  end
end
