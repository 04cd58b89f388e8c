# frozen_string_literal: true

# Runs the plugin arrow_file without Fluentd: each line of standard input is {"conf": {…}, "chunks": [{"tag", "id",
# "timekey", "variables", "events": [[SECONDS, NANOSECONDS, RECORD], …]}, …]}; a line of standard output says which
# events went to @ERROR, or what was wrong. Without "conf" the plugin of the line before goes on. {"hex": DIGITS}
# stands for a text with any bytes. Used by fluent_plugin.py.
require 'json'
require 'fluent/plugin/out_arrow_file'

Metadata = Struct.new(:timekey, :tag, :variables)
Chunk = Struct.new(:metadata, :unique_id, :events) do
  def each
    events.each { |seconds, nanoseconds, record| yield Fluent::EventTime.new(seconds, nanoseconds), record }
  end
end

# Keeps what would go to the label @ERROR.
class ErrorRouter
  attr_reader :errors

  def initialize
    @errors = []
  end

  def emit_error_event(tag, _time, record, error)
    @errors << [tag, record.inspect, error.message]
  end
end

def with_bytes(value)
  case value
  when Hash
    return [value['hex']].pack('H*').force_encoding('UTF-8') if value.keys == ['hex']

    value.to_h { |key, inside| [key, with_bytes(inside)] }
  when Array then value.map { |inside| with_bytes(inside) }
  else value
  end
end

def plugin_with(conf)
  plugin = Fluent::Plugin::ArrowFileOutput.new
  plugin.router = ErrorRouter.new
  plugin.configure(conf)
  plugin
end

def run(order)
  plugin = order['conf'] ? @plugin = plugin_with(order['conf']) : @plugin
  order.fetch('times', 1).times do
    order['chunks'].each do |chunk|
      metadata = Metadata.new(chunk['timekey'], chunk['tag'], chunk['variables']&.transform_keys(&:to_sym))
      plugin.write(Chunk.new(metadata, chunk.fetch('id', 'c0'), with_bytes(chunk['events'])))
    end
  end
  { 'errors' => plugin.router.errors }
rescue StandardError => e
  { 'failure' => "#{e.class}: #{e.message}" }
end

$stdin.each_line do |line|
  puts JSON.generate(run(JSON.parse(line, allow_nan: true, max_nesting: false)))
  $stdout.flush
end
