#!/bin/sh
# The one list of Debian 12 packages. The Dockerfile, the README's commands and .ci/run all call this script.
#
#   docker/packages.sh list SET...      print the packages of the sets, one a line
#   docker/packages.sh install SET...   install those that are missing (as root or through sudo)
#
# Sets: runtime  shared libraries the binary needs at run time
#       build    compiler and libraries to build étagère
#       test     what the tests need besides `build`
#       lint     clang-format and clang-tidy
#       coverage llvm-cov, llvm-profdata
#       apps     what the end-to-end tests run: the sets rails and go, memcached, nginx, Python
#       rails    Rails 6.1 on Puma, Rack::Cache + Dalli
#       go       the Go tool chain
#       bench    what tests/bench needs besides `build`: the servers that étagère is compared with
#       demo     what src/demo/run needs besides `build`
#       compose  validating the compose file
#       image    building and running the container image without an engine
set -eu

packages() {
    case "$1" in
        runtime)  echo libfmt9 libspdlog1.10 libssl3 libyaml-cpp0.7 libmemcached11 \
                       zlib1g libbrotli1 libzstd1 ca-certificates ;;
        build)    echo clang-19 lld-19 llvm-19 libclang-rt-19-dev cmake ninja-build libstdc++-12-dev \
                       libboost1.81-dev libfmt-dev libspdlog-dev libssl-dev libyaml-cpp-dev libmemcached-dev \
                       libxxhash-dev libcli11-dev zlib1g-dev libbrotli-dev libzstd-dev ca-certificates python3 ;;
        test)     echo libgtest-dev libgmock-dev libbenchmark-dev memcached python3 brotli zstd ccache git ;;
        lint)     echo clang-format-19 clang-tidy-19 python3 ;;
        coverage) echo llvm-19 ;;
        apps)     packages rails; packages go; echo memcached nginx-light python3 ;;
        rails)    echo ruby ruby-rails ruby-sqlite3 puma ruby-rack-cache ruby-dalli ;;
        go)       echo golang-go ;;
        bench)    echo python3 haproxy nginx-light varnish memcached puma ruby ruby-rack-cache ruby-dalli libbenchmark-dev ;;
        demo)     echo python3 ;;
        compose)  echo docker-compose python3 ;;
        image)    echo buildah debootstrap ;;
        *)        echo "packages.sh: unknown set '$1' (runtime build test lint coverage apps rails go bench demo compose image)" >&2; exit 2 ;;
    esac
}

list() {
    # A word list on purpose: package names have no spaces.
    # shellcheck disable=SC2046
    for set in "$@"; do printf '%s\n' $(packages "$set"); done | sort -u
}

[ $# -ge 2 ] || { sed -n '2,17p' "$0" >&2; exit 2; }
verb=$1; shift
case "$verb" in
    list) list "$@" ;;
    install)
        names=$(list "$@")
        missing=
        for name in $names; do
            dpkg-query -W -f='${Status}' "$name" 2>/dev/null | grep -q 'ok installed' || missing="$missing $name"
        done
        [ -n "$missing" ] || exit 0
        sudo=; [ "$(id -u)" = 0 ] || sudo=sudo
        $sudo apt-get -o DPkg::Lock::Timeout=600 update -qq
        # shellcheck disable=SC2086
        DEBIAN_FRONTEND=noninteractive $sudo apt-get -o DPkg::Lock::Timeout=600 install -y -qq --no-install-recommends $missing ;;
    *) echo "packages.sh: unknown verb '$verb' (list install)" >&2; exit 2 ;;
esac
