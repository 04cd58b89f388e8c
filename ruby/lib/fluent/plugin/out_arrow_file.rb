# frozen_string_literal: true

require 'fluent/plugin/output'
require 'arrow_file/codec'
require 'arrow_file/output_file'
require 'arrow_file/rows'

module Fluent
  module Plugin
    # @type arrow_file: writes events to Apache Arrow files, which PostgreSQL reads through Arrow_Fdw of pg_strom.
    class ArrowFileOutput < Output
      Fluent::Plugin.register_output('arrow_file', self)

      helpers :event_emitter

      desc 'Names of files: %Y %y %m %d %H %M %S for the local time, %p for the process, ${tag}, ${chunk_id} and other keys of chunks'
      config_param :path, :string
      desc 'Columns: NAME=TYPE[;ATTRIBUTE], with commas between'
      config_param :schema_defs, :string
      desc 'The column that has the time of events'
      config_param :ts_column, :string, default: nil
      desc 'The column that has the tag of events'
      config_param :tag_column, :string, default: nil
      desc 'Only arrow'
      config_param :file_format, :enum, list: %i[arrow], default: :arrow, alias: :format
      desc 'none, lz4, zstd, zstd:LEVEL'
      config_param :compression, :string, default: 'none'
      desc 'Chunks are added to a file until it has this size; 0: a file for each chunk'
      config_param :filesize_threshold, :size, default: 0
      desc 'What becomes of a record without a key that has a column'
      config_param :missing_key, :enum, list: %i[null error], default: :null
      desc 'What becomes of a key without a column'
      config_param :extra_key, :enum, list: %i[drop error text], default: :drop
      desc 'What becomes of a value that its column cannot have'
      config_param :wrong_value, :enum, list: %i[null error text], default: :null
      desc 'The column for what is kept as text, in JSON'
      config_param :text_column, :string, default: 'extra'

      config_section :buffer do
        config_set_default :@type, 'memory'
        config_set_default :chunk_keys, ['tag']
        config_set_default :chunk_limit_size, 256 * 1024 * 1024
      end

      TIME_PARTS = /%([YymdHMSp%])/.freeze

      def configure(conf)
        super
        @policies = ::ArrowFile::Policies.new(@missing_key, @extra_key, @wrong_value, @text_column)
        @fields = ::ArrowFile::Fields.parse(@schema_defs)
        check_event_column('ts_column', @ts_column, ::ArrowFile::TimestampType, ::ArrowFile::DateType)
        check_event_column('tag_column', @tag_column, ::ArrowFile::TextType)
        raise Fluent::ConfigError, 'tag_column: the keys of <buffer> need tag' if @tag_column && !@chunk_key_tag

        add_text_column if @policies.text?
        @codec = ::ArrowFile::Codec.of(@compression)
        check_path
        @output = ::ArrowFile::OutputFile.new(@fields, { 'fluentd.plugin' => 'arrow_file' })
        @known = {} # files that may be continued, by name
        @lock = Mutex.new
      rescue ArgumentError => e
        raise Fluent::ConfigError, e.message
      end

      def multi_workers_ready?
        true
      end

      def write(chunk)
        rows = rows_of(chunk)
        return if rows.count.zero?

        path = path_of(chunk)
        # The chunk was written before and comes again, because its end was not recorded.
        return if @path.include?('${chunk_id}') && File.exist?(path)

        batch = rows.batch(@codec)
        bounds = rows.bounds
        if @filesize_threshold.zero?
          @output.create(path, batch, bounds)
        else
          @lock.synchronize { append(path, batch, bounds) }
        end
      end

      private

      # Fluentd's own check requires each chunk key in the names. Here files with the same name get numbers.
      def check_path
        @path.scan(/\$\{([^}]*)\}/).flatten.each do |key|
          known = key == 'chunk_id' || (@chunk_key_tag && /\Atag(\[-?\d+\])?\z/.match?(key)) || @chunk_keys.map(&:to_s).include?(key)
          raise Fluent::ConfigError, "path has ${#{key}}, which is no key of chunks: see <buffer>" unless known
        end
      end

      def check_event_column(option, name, *types)
        return if name.nil?

        field = @fields.find { |known| known.name == name }
        raise Fluent::ConfigError, "#{option}: schema_defs has no column \"#{name}\"" if field.nil?
        raise Fluent::ConfigError, "#{option}: column \"#{name}\" has another type" unless types.any? { |type| field.type.instance_of?(type) }
      end

      def add_text_column
        raise Fluent::ConfigError, "text_column: schema_defs has a column \"#{@text_column}\"" if @fields.any? { |field| field.name == @text_column }

        @fields << ::ArrowFile::Field.new(@text_column, ::ArrowFile::JsonType.new, false)
      end

      # A record that a policy rejects goes to the label @ERROR; the others are written.
      def rows_of(chunk)
        tag = chunk.metadata.tag
        rows = ::ArrowFile::Rows.new(@fields, @policies, @ts_column, @tag_column)
        chunk.each do |time, record|
          rows.append(tag, time, record)
        rescue ::ArrowFile::RefusedRecord => e
          router.emit_error_event(tag.to_s, time, record, e)
        end
        rows
      end

      def path_of(chunk)
        metadata = chunk.metadata.dup
        metadata.tag = safe_name(metadata.tag) if metadata.tag
        metadata.variables = metadata.variables.transform_values { |value| safe_name(value.to_s) } if metadata.variables
        path = @path.gsub('${chunk_id}', dump_unique_id_hex(chunk.unique_id))
        now = Time.now
        # If a chunk key is the time, Fluentd inserts the chunk's own time.
        path = path.gsub(TIME_PARTS) do
          letter = Regexp.last_match(1)
          next Process.pid.to_s if letter == 'p'

          metadata.timekey ? "%#{letter}" : now.strftime("%#{letter}")
        end
        extract_placeholders(path, metadata)
      end

      # Replaces characters that could lead into another folder, or hide a file, by _.
      def safe_name(text)
        text.gsub(/[^A-Za-z0-9._-]/, '_').sub(/\A(?=\.|\z)/, '_')[0, 200]
      end

      def append(path, batch, bounds)
        written = @known[path]
        size = batch.metadata.bytesize + batch.body.bytesize
        return if written && written.size + size <= @filesize_threshold && @output.append(written, batch, bounds)

        @known.shift if @known.size >= 1000
        @known[path] = @output.create(path, batch, bounds)
      end
    end
  end
end
