# frozen_string_literal: true

# The data of the API: 10,000 products in SQLite, the same bytes on every machine and in every run.
class Product < ActiveRecord::Base
  COUNT = 10_000
  PER_PAGE = 100
  EPOCH = Time.utc(2024, 3, 1, 8, 30)

  scope :page, ->(number) { order(:id).limit(PER_PAGE).offset((number - 1) * PER_PAGE) }

  # Every row has its own second and its own microsecond, so that two pages never share a validator by accident
  # (a bulk load with one time stamp is what made the pages of the original application look equal).
  def self.seed
    rows = (1..COUNT).map do |id|
      changed = EPOCH + id * 61 + Rational(id * 7919 % 1_000_000, 1_000_000)
      {
        id: id, sku: format('SKU-%06d', id), name: "Product number #{id}", price_cents: 100 + id * 37 % 90_000,
        stock: id * 13 % 500, category: %w[books music garden kitchen office].at(id % 5),
        description: "A sturdy and well made thing, number #{id} of the catalogue, sold by the piece, with a warranty " \
                     'of two years; returned within a month without a question asked.',
        created_at: EPOCH, updated_at: changed
      }
    end
    rows.each_slice(PER_PAGE) { |slice| insert_all!(slice) }
  end

  def self.prepare
    connection.create_table(:products, force: true) do |t|
      t.string :sku, :name, :category, :description, null: false
      t.integer :price_cents, :stock, null: false
      t.timestamps precision: 6
    end
    reset_column_information
    seed
  end
end
