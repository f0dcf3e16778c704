use Rack::Cache, :verbose => false do
  set :cache_key do |r| r.path end
  set :ignore_headers, %w[Set-Cookie X-Foo]
end
Rack::Cache::Key.query_string_ignore = proc { |k, v| k =~ /^(utm|trk)_/ || k == 'a' }
