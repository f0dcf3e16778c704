// The scalars that keys are made of, each with the name that messages and the reference call it.
#pragma once

#include "binding.hpp"

#include <string_view>

namespace etagere::app::config {

// Types as messages and the reference call them.
inline constexpr std::string_view t_boolean = "true or false";
inline constexpr std::string_view t_rate = "rate";
inline constexpr std::string_view t_share = "share";
inline constexpr std::string_view t_address = "address";
inline constexpr std::string_view t_endpoint = "http://host:port or unix:/path";
inline constexpr std::string_view t_server = "host:port";
inline constexpr std::string_view t_network = "network";
inline constexpr std::string_view t_secret = "text, secret";
inline constexpr std::string_view t_name = "name";
inline constexpr std::string_view t_field = "field name";
inline constexpr std::string_view t_cookie = "cookie name";
inline constexpr std::string_view t_method = "method";
inline constexpr std::string_view t_parameter = "query parameter";
inline constexpr std::string_view t_host = "host pattern";
inline constexpr std::string_view t_path = "path pattern";
inline constexpr std::string_view t_url_path = "path";
inline constexpr std::string_view t_prefix = "beginning of a path";
inline constexpr std::string_view t_tag = "tag";
inline constexpr std::string_view t_pointer = "JSON pointer";

using boolean = plain<&parse_boolean, t_boolean>;
using rate = plain<&parse_rate, t_rate>;
using share = plain<&parse_share, t_share>;
using address = plain<&parse_address, t_address>;
using endpoint = plain<&parse_endpoint, t_endpoint>;
using server = plain<&parse_server, t_server>;
using network = plain<&parse_network, t_network>;
using secret = plain<&parse_secret, t_secret>;
using name = plain<&parse_name, t_name>;
using field_name = plain<&parse_field_name, t_field>;
using cookie_name = plain<&parse_cookie_name, t_cookie>;
using method = plain<&parse_method, t_method>;
using parameter = plain<&parse_parameter, t_parameter>;
using host_pattern = plain<&parse_host_pattern, t_host>;
using path_pattern = plain<&parse_path_pattern, t_path>;
using url_path = plain<&parse_url_path, t_url_path>;
using path_prefix = plain<&parse_path_prefix, t_prefix>;
using tag = plain<&parse_tag, t_tag>;
using json_pointer = plain<&parse_json_pointer, t_pointer>;

}  // namespace etagere::app::config
