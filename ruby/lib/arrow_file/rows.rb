# frozen_string_literal: true

require 'arrow_file/columns'

# Appends events to the columns of a record batch. Used by the plugin.
module ArrowFile
  # A record that a policy rejects.
  class RefusedRecord < StandardError; end

  # How to handle records that do not fit the columns. missing: null or error; extra: drop, error or text; wrong: null,
  # error or text. `text_column` gets the values that are kept as text, as JSON.
  Policies = Struct.new(:missing, :extra, :wrong, :text_column) do
    def text?
      extra == :text || wrong == :text
    end
  end

  class Rows
    attr_reader :count

    # `time_column`, `tag_column`: names of fields, or nil.
    def initialize(fields, policies, time_column, tag_column)
      @policies = policies
      @columns = fields.map { |field| Column.new(field) }
      by_name = @columns.to_h { |column| [column.field.name, column] }
      @time = by_name.delete(time_column)
      @tag = by_name.delete(tag_column)
      @text = by_name.delete(policies.text_column) if policies.text?
      @record_columns = by_name.map { |name, column| [name, column, column.field.type] }
      @all_columns = [*@record_columns.map { |_, column, _| column }, *@time, *@tag, *@text]
      @names = by_name
      @count = 0
    end

    # Appends a record. RefusedRecord: nothing was appended.
    def append(tag, time, record)
      values = stored(tag, time, record)
      @all_columns.each_with_index { |column, i| column.append(values[i]) }
      @count += 1
    rescue RefusedRecord
      raise
    rescue StandardError => e
      # One record must not keep the others of its chunk from being written.
      raise RefusedRecord, "a record that cannot be stored: #{e.class}: #{e.message}"
    end

    def batch(codec)
      Message.batch(@columns, @count, codec)
    end

    # The bounds of each column, or nil.
    def bounds
      @columns.map(&:bounds)
    end

    private

    # A value for each column.
    def stored(tag, time, record)
      kept = @policies.extra == :drop ? nil : extra(record)
      values = @record_columns.map do |name, _, type|
        value = record[name]
        next missing(name, record) if value.nil?

        form = value.is_a?(String) ? type.cast_text(value) : type.cast(value)
        form = wrong(name, value, kept ||= {}) if form.nil?
        form
      end
      values << @time.field.type.cast(time) if @time
      values << @tag.field.type.cast_text(tag) if @tag
      values << (kept.nil? || kept.empty? ? nil : @text.field.type.cast(kept)) if @text
      values
    end

    def missing(name, record)
      raise RefusedRecord, "a record without a value for \"#{name}\"" if @policies.missing == :error && !record.key?(name)

      nil
    end

    def wrong(name, value, kept)
      case @policies.wrong
      when :error then raise RefusedRecord, "a value that does not fit into column \"#{name}\": #{value.inspect[0, 100]}"
      when :text then kept[name] = value
      end
      nil
    end

    # The keys that have no column.
    def extra(record)
      kept = record.reject { |name, _| @names.key?(name) }
      raise RefusedRecord, "a record with the key \"#{kept.keys.first}\", which has no column" if @policies.extra == :error && !kept.empty?

      kept
    end
  end
end
