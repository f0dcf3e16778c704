// What the fields of a head say about framing, connection and body: collected while they are read, judged afterwards.
#pragma once

#include "etagere/http/fields.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace etagere::http::h1 {

/// All views point into the raw head.
struct head_fields {
    std::size_t hosts = 0;
    std::string_view host;
    std::size_t transfer_encodings = 0;
    bool chunked = false;         // the (only) Transfer-Encoding is exactly "chunked"
    bool foreign_coding = false;  // it is one coding that nobody registered
    bool bad_length = false;
    std::optional<std::uint64_t> content_length;
    std::size_t connections = 0;
    std::size_t options = 0;  // members of all Connection lines
    bool close = false;       // of the options: these three, and whether there are others
    bool keep_alive = false;
    bool upgrade_named = false;
    bool others_named = false;
    std::array<std::string_view, 8> connection{};
    std::size_t upgrades = 0;
    std::string_view upgrade;
    bool expects = false;
    bool expects_only_continue = true;

    /// True where the field is one that only the codec may see: it has been taken.
    bool take(field_id id, std::string_view value) noexcept;

    /// More Connection lines or members than anybody needs: each member costs a walk through the header.
    bool too_many_options() const noexcept { return connections > connection.size() || options > 64; }
    /// RFC 9110 §7.6.1. Removes fields that Connection names, but none that the proxy knows: those are meant for
    /// everybody (§7.6.1 forbids naming them), and without Cache-Control, Vary, Authorization or the forwarding fields
    /// a message would mean something else to us than to its sender.
    void erase_named(fields& header) const;
    /// Upgrade, where Connection names it: "" for none, for several and for h2c, which is not passed on (RFC 9113 §3.1
    /// made it obsolete, and behind a proxy it is a way past every rule).
    std::string_view usable_upgrade() const noexcept;
};

}  // namespace etagere::http::h1
