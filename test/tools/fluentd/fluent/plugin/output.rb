# frozen_string_literal: true

# As much of Fluentd's output plugins as arrow_file uses, so that its tests need no Fluentd. Used by fluentd/drive.rb.
module Fluent
  class ConfigError < StandardError; end

  # Seconds since 1970 and nanoseconds.
  class EventTime
    attr_reader :nsec

    def initialize(seconds, nanoseconds)
      @seconds = seconds
      @nsec = nanoseconds
    end

    def to_i
      @seconds
    end
  end

  module Plugin
    def self.register_output(_name, _class); end

    class Output
      Parameter = Struct.new(:name, :kind, :options)
      SIZES = { 'k' => 1 << 10, 'm' => 1 << 20, 'g' => 1 << 30 }.freeze

      def self.parameters
        @parameters ||= []
      end

      def self.config_param(name, kind, **options)
        parameters << Parameter.new(name, kind, options)
      end

      def self.helpers(*); end
      def self.desc(*); end
      def self.config_section(*); end

      attr_accessor :router

      def configure(conf)
        @chunk_key_tag = conf.fetch('chunk_keys', ['tag']).include?('tag')
        @chunk_keys = [:key]
        self.class.parameters.each do |parameter|
          text = conf[parameter.name.to_s] || conf[parameter.options[:alias].to_s]
          raise ConfigError, "'#{parameter.name}' parameter is required" if text.nil? && !parameter.options.key?(:default)

          instance_variable_set("@#{parameter.name}", text.nil? ? parameter.options[:default] : value(parameter, text))
        end
      end

      def dump_unique_id_hex(id)
        id
      end

      def extract_placeholders(text, metadata)
        text = Time.at(metadata.timekey).strftime(text) if metadata.timekey
        text.gsub(/\$\{(\w+)\}/) { Regexp.last_match(1) == 'tag' ? metadata.tag : metadata.variables.fetch(Regexp.last_match(1).to_sym) }
      end

      private

      def value(parameter, text)
        case parameter.kind
        when :enum
          raise ConfigError, "#{text} is not in the list" unless parameter.options[:list].include?(text.to_sym)

          text.to_sym
        when :size then text.to_i * SIZES.fetch(text[-1], 1)
        else text
        end
      end
    end
  end
end
