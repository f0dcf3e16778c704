config.action_dispatch.rack_cache = {
  metastore: "memcached://#{ENV['MC']}:11211/meta", :entitystore => Dalli::Client.new(%w[a b:2], namespace: "n"),
  default_ttl: 5.minutes, allow_reload: true, private_headers: ['Authorization', "X-Key"], fault_tolerant: true
} if ENV["X"]
