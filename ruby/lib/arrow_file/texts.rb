# frozen_string_literal: true

require 'json'

# Texts as PostgreSQL can have them: UTF-8 without NUL. Used by types.rb.
module ArrowFile
  module Texts
    REPLACEMENT = "\uFFFD"
    NUL = "\0"
    DEEPEST = 90 # JSON.generate has a limit of 100

    module_function

    # The text with bytes that are no UTF-8, and NUL, replaced by U+FFFD.
    def clean(text)
      return text if text.encoding == Encoding::UTF_8 && text.valid_encoding? && !text.include?(NUL)

      text = text.dup.force_encoding(Encoding::UTF_8) unless text.encoding == Encoding::UTF_8
      text = text.scrub(REPLACEMENT) unless text.valid_encoding?
      text.gsub(NUL, REPLACEMENT)
    end

    # ArgumentError: it is nested too deeply.
    def json(value)
      JSON.generate(plain(value, 0))
    end

    # The value with such texts alone, and with texts for numbers that JSON does not have.
    def plain(value, depth)
      raise ArgumentError, 'a value that is nested too deeply' if depth > DEEPEST

      case value
      when String then clean(value)
      when Hash then value.to_h { |key, inside| [clean(key.to_s), plain(inside, depth + 1)] }
      when Array then value.map { |inside| plain(inside, depth + 1) }
      when Float then value.finite? ? value : value.to_s
      when Integer, true, false, nil then value
      else clean(value.to_s)
      end
    end
  end
end
