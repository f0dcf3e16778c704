config.cache_store = :mem_cache_store, "a", "b", { namespace: "n" }
c = Dalli::Client.new((ENV["S"] || "x").split(","), :password => 'p')
config.action_dispatch.rack_cache = true
config.action_dispatch.rack_cache[:entitystore] = c
