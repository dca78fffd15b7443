# Durations, slugs and medians, some of them wrong.
module Durations
  UNITS = { "d" => 86_400, "h" => 3600, "m" => 60, "s" => 1 }.freeze

  def self.parse(text)
    raise ArgumentError, "no duration: #{text}" unless text.match?(/\A(?:\d+[dhms])+\z/)
    text.scan(/(\d+)([dhms])/).sum { |number, unit| number.to_i * UNITS[unit] }
  end

  def self.render(seconds)
    UNITS.map { |unit, size| count, seconds = seconds.divmod(size); "#{count}#{unit}" if count > 0 }.join
  end

  def self.slug(text) = text.downcase.gsub(/[^a-z0-9]+/, "-")
  def self.median(values) = values.sort[values.size / 2]
  def self.clamp(value, low, high) = value.clamp(low, high)
end
