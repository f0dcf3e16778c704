# frozen_string_literal: true

# RAILS_ENV=production DATABASE=FILE puma -b tcp://127.0.0.1:0 -t 5:5 config.ru
ENV['RAILS_ENV'] ||= 'production'
database = ENV.fetch('DATABASE')
ENV['DATABASE_URL'] = "sqlite3:#{database}?pool=16&timeout=5000"

require_relative 'app'

Catalogue.initialize!
require_relative 'catalog'
Product.prepare unless Product.table_exists? && Product.count == Product::COUNT

Catalogue.routes.draw do
  get 'up', to: 'tools#up'
  get 'renders', to: 'tools#renders'
  resources :products, only: %i[index update], path: 'api/products'
  get 'defaults/products', to: 'defaults#index'
  get 'mine/products', to: 'mine#index'
  %w[strong lying churning].each { |kind| get "#{kind}/products", to: "tags##{kind}" }
end

run Catalogue
