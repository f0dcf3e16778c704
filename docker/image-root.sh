#!/bin/sh
# Lays out the root directory of the image: the binary, exactly the shared libraries that the loader would take for it,
# the certificate authorities, and the three files of /etc that a C library looks into.
#
#   docker/image-root.sh BINARY CONFIG ROOT
set -eu

binary=$1 config=$2 root=$3

# Three quarters of the binary are line tables for a debugger.
install -D -s --strip-program=llvm-strip-19 -m 755 "$binary" "$root/usr/bin/etagere"
install -D -m 644 "$config" "$root/etc/etagere/etagere.yaml"
install -D -m 644 /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"

# `name => /path (address)` and, for the loader itself, `/path (address)`.
ldd "$binary" | awk '$2 == "=>" { print $3 } $1 ~ /^\// { print $1 }' | while read -r library; do
    install -D -m 755 "$(readlink -f "$library")" "$root$library"
done

echo 'etagere:x:65532:65532:etagere:/:/usr/sbin/nologin' >"$root/etc/passwd"
echo 'etagere:x:65532:' >"$root/etc/group"
# Without this line the C library asks DNS before it reads /etc/hosts.
echo 'hosts: files dns' >"$root/etc/nsswitch.conf"
install -d -m 1777 "$root/tmp"

du -sh "$root"
