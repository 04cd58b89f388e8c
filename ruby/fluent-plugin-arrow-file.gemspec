# frozen_string_literal: true

Gem::Specification.new do |spec|
  spec.name = 'fluent-plugin-arrow-file'
  spec.version = '1.0.0'
  spec.summary = 'Fluentd output plugin that writes Apache Arrow files for PostgreSQL and pg_strom'
  spec.authors = ['pg_strom developers']
  spec.license = 'PostgreSQL'
  spec.files = Dir.glob('lib/**/*.rb', base: __dir__) + ['README.md']
  spec.required_ruby_version = '>= 2.7'
  spec.add_runtime_dependency 'fluentd', '>= 1.14', '< 2'
end
