# frozen_string_literal: true

# What of Rack::Cache is seen from the inside only, as one line of JSON.
require 'json'
require 'rack'
require 'rack/cache'

# A body that tells when it has been read to its end.
class Parts
  attr_reader :read

  def each
    3.times { |n| yield "part #{n}\n" }
    @read = true
  end
end

def get(app, path)
  app.call(Rack::MockRequest.env_for(path))
end

parts = Parts.new
streaming = Rack::Cache.new(->(_) { [200, { 'Cache-Control' => 'max-age=60', 'Content-Type' => 'text/event-stream' }, parts] },
                            verbose: false, metastore: 'heap:/1', entitystore: 'heap:/1')
get(streaming, '/')
collected = parts.read

kept = Rack::Cache::Storage.new
many = Rack::Cache.new(->(_) { [200, { 'Cache-Control' => 'max-age=60' }, ['x' * 1000]] },
                       verbose: false, storage: kept)
2000.times { |n| get(many, "/#{n}") }
metastore = kept.resolve_metastore_uri('heap:/')
entries = metastore.to_hash

puts({ collects_the_body_first: collected,
       entries_of_2000: entries.size, stored_as_ruby_objects: Marshal.load(entries.values.first).is_a?(Array) }.to_json)
