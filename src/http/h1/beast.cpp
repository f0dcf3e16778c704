// The part of Boost.Beast that is used: the HTTP/1 parser, without streams, files or WebSocket. Compiled here once
// (BOOST_BEAST_SEPARATE_COMPILATION); boost/beast/src.hpp would pull Asio's sockets into the pure core.
#include <boost/beast/core/impl/error.ipp>
#include <boost/beast/core/impl/string.ipp>
#include <boost/beast/http/detail/basic_parser.ipp>
#include <boost/beast/http/detail/rfc7230.ipp>
#include <boost/beast/http/impl/basic_parser.ipp>
#include <boost/beast/http/impl/error.ipp>
#include <boost/beast/http/impl/field.ipp>
#include <boost/beast/http/impl/rfc7230.ipp>
#include <boost/beast/http/impl/verb.ipp>

template class boost::beast::http::basic_parser<true>;
