# frozen_string_literal: true

require 'arrow_file/fields'

# The rows of a record batch, by column. Used by the plugin and message.rb.
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

    # A value that cast() has made; nil is NULL.
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

    # Validity and what the type has.
    def buffers
      [validity, *@type.pack(@values)]
    end

    # Items for min_values and max_values; nil: nothing can be said.
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
