#include "purge_page.hpp"

#include "etagere/observe/log.hpp"

#include <algorithm>
#include <array>

#include <boost/asio/post.hpp>
#include <boost/json.hpp>
#include <fmt/format.h>

namespace etagere::app {

namespace {

constexpr std::size_t most_at_once = 1024;  // generations of one request

struct member {
    std::string_view one;
    std::string_view several;
    std::vector<std::string> exchange::purge_order::* of;
};
constexpr std::array<member, 4> members{{{"url", "urls", &exchange::purge_order::urls},
                                         {"tag", "tags", &exchange::purge_order::tags},
                                         {"prefix", "prefixes", &exchange::purge_order::prefixes},
                                         {"route", "routes", &exchange::purge_order::routes}}};

std::expected<void, std::string> read_member(const boost::json::key_value_pair& m, exchange::purge_order& into) {
    const std::string_view name = m.key();
    const boost::json::value& value = m.value();
    const auto refuse = [&](std::string_view want) {
        return std::unexpected(fmt::format("\"{}\" has to be {}", name, want));
    };
    if (name == "soft") {
        if (!value.is_bool()) return refuse("true or false");
        into.soft = value.get_bool();
        return {};
    }
    const auto* const known =
        std::ranges::find_if(members, [&](const member& k) { return name == k.one || name == k.several; });
    if (known == members.end()) return std::unexpected(fmt::format("\"{}\" is nothing that can be purged by", name));
    std::vector<std::string>& list = into.*(known->of);
    if (name == known->one) {
        if (!value.is_string()) return refuse("a text");
        list.emplace_back(std::string_view(value.get_string()));
        return {};
    }
    if (!value.is_array()) return refuse("a list of texts");
    for (const boost::json::value& one : value.get_array()) {
        if (!one.is_string()) return refuse("a list of texts");
        list.emplace_back(std::string_view(one.get_string()));
    }
    return {};
}

/// Whether it is published: known to every process that shares a store.
net::task<bool> purge(const exchange::runtime& in, const exchange::purge_plan& plan, net::worker& on) {
    auto published = net::asio::async_initiate<const net::use_task_t, void(bool)>(
        [&](auto handler) {
            auto shared = std::make_shared<decltype(handler)>(std::move(handler));
            exchange::carry_out(in, plan, on.now(), [&on, shared](bool all) {
                net::asio::post(on.executor(), [shared, all] { std::move (*shared)(all); });
            });
        },
        net::use_task);
    const auto [all] = co_await std::move(published);
    co_return all;
}

}  // namespace

std::expected<exchange::purge_order, std::string> parse_purge(std::string_view json) {
    boost::system::error_code ec;
    const boost::json::value parsed = boost::json::parse({json.data(), json.size()}, ec);
    if (ec || !parsed.is_object()) {
        return std::unexpected(R"(send a JSON object like {"tag": "products", "soft": true})");
    }
    exchange::purge_order order;
    for (const boost::json::key_value_pair& m : parsed.get_object()) {
        if (auto good = read_member(m, order); !good) return std::unexpected(std::move(good.error()));
    }
    if (order.empty()) return std::unexpected("name a url, a tag, a prefix or a route");
    const std::size_t count = order.urls.size() + order.tags.size() + order.prefixes.size() + order.routes.size();
    if (count > most_at_once) return std::unexpected(fmt::format("more than {} at once", most_at_once));
    return order;
}

admin::page purge_page(std::function<std::shared_ptr<const exchange::runtime>()> running, observe::metrics& metrics,
                       net::worker& control) {
    const auto answer = [running = std::move(running), &metrics,
                         &control](admin::question q) -> net::task<admin::reply> {
        const auto order = parse_purge(q.body);
        if (!order) co_return admin::refusal(400, order.error());
        const std::shared_ptr<const exchange::runtime> in = running();
        const auto plan = exchange::plan_purge(*in, *order);
        if (!plan) co_return admin::refusal(400, plan.error());
        const bool published = co_await purge(*in, *plan, control);
        for (std::size_t kind = 0; kind < plan->generations.size(); ++kind) {
            metrics.purged(static_cast<observe::purge_kind>(kind), plan->soft, plan->generations.at(kind));
        }
        log::info("admin", "purged", "generations moved on",
                  {{"generations", plan->total()},
                   {"urls", fmt::format("{}", fmt::join(order->urls, " "))},
                   {"tags", fmt::format("{}", fmt::join(order->tags, " "))},
                   {"prefixes", fmt::format("{}", fmt::join(order->prefixes, " "))},
                   {"routes", fmt::format("{}", fmt::join(order->routes, " "))},
                   {"soft", order->soft ? "true" : "false"},
                   {"published", published ? "true" : "false"}});
        admin::reply r;
        r.content = fmt::format("{{\"purged\":{},\"published\":{}}}\n", plan->total(), published);
        co_return r;
    };
    return {.path = "/purge", .writes = true, .answer = answer};
}

}  // namespace etagere::app
