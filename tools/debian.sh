#!/bin/sh
# Installs what packaging/debian.txt lists, if we are root on Debian and something is missing. Never fails the build:
# a test whose counterpart is absent skips with the reason.
list="$(dirname "$0")/../packaging/debian.txt"
command -v apt-get >/dev/null && [ "$(id -u)" = 0 ] || exit 0
missing=$(sed 's/#.*//' "$list" | xargs -n1 | while read -r p; do
  dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || echo "$p"
done)
[ -z "$missing" ] && exit 0
echo "installing Debian packages:" $missing
{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing; } >/dev/null 2>&1 ||
  echo "some Debian packages could not be installed; tests that need them will skip"
exit 0
