# frozen_string_literal: true

# A real Rails 6.1 API, of the kind étagère stands in front of. One file, Debian's gems, no bundler.
#
#   /api/products?page=N       the article's way: stale?(etag:, last_modified:, public: true), no max-age
#   /defaults/products?page=N  the same page as Rails sends it when nobody thinks about caching: a Rack::ETag and
#                              `max-age=0, private, must-revalidate`; with a Bearer token it is that customer's page
#   /mine/products?page=N      a customer's page with stale?(etag:, last_modified:) but not `public`: the same
#                              Cache-Control as the defaults, and a tag that costs no rendering
#   /strong/products?page=N    stale?(strong_etag:, public: true): a tag that nginx's gzip weakens
#   /lying/products?page=N     stale?(strong_etag: page): the tag of a page never changes, its bytes do each time
#   /churning/products?page=N  a tag made anew for each rendering of the same bytes, that is still confirmed
#   PUT /api/products/:id      changes a row; the tag of its page changes with it
#   /renders                   how many pages were really rendered, and how many requests reached a controller
#   /up                        health
#
# Environment: DATABASE  file of the SQLite database; created and filled if it does not exist (required)
#              RACK_CACHE  host:port of a memcached: puts Rack::Cache with Dalli into the middleware stack
#              DEFLATER  outside: Rack::Deflater around everything, as `use Rack::Deflater` in config.ru; inside: below
#              Rack::ETag, which then makes the tag of the compressed bytes
#              RACK_CACHE_LOG  1: Rack::Cache tells what it did (`cache: [GET /x] stale, valid, store`)
require 'rails'
require 'active_record/railtie'
require 'action_controller/railtie'
require 'concurrent/atomic/atomic_fixnum'

class Catalogue < Rails::Application
  config.load_defaults 6.1
  config.api_only = true
  config.eager_load = false # one file: there is nothing to load
  config.consider_all_requests_local = false
  config.secret_key_base = 'only for tests: nothing is signed with it'
  config.logger = ActiveSupport::Logger.new($stderr)
  config.log_level = :warn
  config.hosts.clear

  case ENV['DEFLATER']
  when 'outside' then config.middleware.insert_before(0, Rack::Deflater)
  when 'inside' then config.middleware.use(Rack::Deflater)
  end

  if (server = ENV['RACK_CACHE'])
    require 'dalli'
    require 'rack/cache'
    config.action_dispatch.rack_cache = {
      metastore: "memcached://#{server}/meta", entitystore: "memcached://#{server}/body",
      verbose: ENV['RACK_CACHE_LOG'] == '1'
    }
  end
end

# What a test asks about at the end: what the cache in front has really saved.
module Counters
  RENDERS = Concurrent::AtomicFixnum.new
  REQUESTS = Concurrent::AtomicFixnum.new
end

class ApiController < ActionController::API
  before_action { Counters::REQUESTS.increment }

  rescue_from(ActiveRecord::RecordNotFound) { render json: { error: 'not found' }, status: :not_found }

  private

  def page
    [params.fetch(:page, 1).to_i, 1].max
  end

  def render_products(products, extra = {})
    Counters::RENDERS.increment
    render json: { page: page, **extra, products: products }
  end

  def freshness(products)
    changes = products.map(&:updated_at)
    { etag: products.map(&:id).zip(changes.map(&:to_f)), last_modified: changes.max }
  end

  # A token is its customer's name: who may see what is not what this application is about.
  def customer
    request.authorization.to_s[/\ABearer (\w+)\z/, 1]
  end
end

class ProductsController < ApiController
  # The core of the article: 100 rows are loaded, but nothing is rendered when the client's copy is still right.
  def index
    products = Product.page(page).load
    render_products(products) if stale?(**freshness(products), public: true)
  end

  def update
    product = Product.find(params[:id])
    product.update!(params.permit(:name, :price_cents, :stock, :description))
    render json: product
  end
end

# Nothing about caching in here, as in most applications.
class DefaultsController < ApiController
  def index
    render_products(Product.page(page).load, customer: customer)
  end
end

class MineController < ApiController
  def index
    products = Product.page(page).load
    fresh = freshness(products)
    render_products(products, customer: customer) if stale?(**fresh, etag: [customer, fresh[:etag]])
  end
end

# What a validator audit is for: tags that say something else than the bytes.
class TagsController < ApiController
  def strong
    products = Product.page(page).load
    render_products(products) if stale?(strong_etag: products.map(&:id).zip(products.map { |p| p.updated_at.to_f }), public: true)
  end

  def lying
    render_products(Product.page(page).load, rendered: Counters::RENDERS.value) if stale?(strong_etag: page, public: true)
  end

  def churning
    known = request.if_none_match.to_s[/"churn-[0-9]+-#{page}"/]
    response.headers['ETag'] = known || %("churn-#{Counters::RENDERS.value}-#{page}")
    response.headers['Cache-Control'] = 'public'
    known ? head(:not_modified) : render_products(Product.page(page).load)
  end
end

class ToolsController < ActionController::API
  before_action { response.headers['Cache-Control'] = 'no-store' }

  def up
    render plain: 'up'
  end

  def renders
    render json: { renders: Counters::RENDERS.value, requests: Counters::REQUESTS.value }
  end
end
