# frozen_string_literal: true

# Rack::Cache in front of an origin that a test scripts: the same origin can then stand behind étagère, and the two be
# compared word by word.
#
#   RACK_CACHE_CONFIG=FILE ORIGIN=http://127.0.0.1:PORT puma -b tcp://127.0.0.1:0 -e production config.ru
#
# Environment: RACK_CACHE_CONFIG  a file with `use Rack::Cache, …`: what `etagere import rack-cache` reads too (required)
#              ORIGIN             where requests go that Rack::Cache does not answer (required)
require 'net/http'
require 'rack/cache'
require 'uri'

# Relays a request and its answer as they are: no coding is asked for or undone, no field added but those of one hop.
class Forward
  HOP = %w[connection content-length host keep-alive transfer-encoding version].freeze

  def initialize(origin)
    @origin = URI(origin)
  end

  def call(env)
    answer = Net::HTTP.start(@origin.host, @origin.port) { |http| http.request(request(env)) }
    fields = answer.each_header.reject { |name, _| HOP.include?(name) }
    [answer.code.to_i, fields.map { |name, value| [name.split('-').map(&:capitalize).join('-'), value] }.to_h,
     [answer.body.to_s]]
  end

  private

  def request(env)
    target = [env['PATH_INFO'], env['QUERY_STRING']].reject { |part| part.to_s.empty? }.join('?')
    method = env['REQUEST_METHOD']
    # Rack::Cache puts a nil where it has no validator.
    fields = env.select { |name, value| name.start_with?('HTTP_') && value }
                .transform_keys { |name| name.delete_prefix('HTTP_').downcase.tr('_', '-') }
                .reject { |name, _| HOP.include?(name) }
    body = env['rack.input'].read
    relayed = Net::HTTPGenericRequest.new(method, !body.empty?, method != 'HEAD', target,
                                          { 'Accept-Encoding' => 'identity' }.merge(fields))
    relayed.body = body unless body.empty?
    relayed
  end
end

map('/up') { run ->(_) { [200, { 'Content-Type' => 'text/plain' }, ['up']] } }
map '/' do
  instance_eval(File.read(ENV.fetch('RACK_CACHE_CONFIG')), ENV['RACK_CACHE_CONFIG'])
  run Forward.new(ENV.fetch('ORIGIN'))
end
