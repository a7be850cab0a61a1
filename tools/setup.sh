#!/usr/bin/env bash
# Installs the Debian packages of the given roles that are missing, and nothing else.
#
#   tools/setup.sh ROLE...      roles and packages: tools/packages.txt
#
# Silent when nothing is missing. Exit status: 0 ready, 1 packages are missing and could not be
# installed, 2 wrong usage.
set -euo pipefail

list="$(dirname "${BASH_SOURCE[0]}")/packages.txt"

# The packages of the roles given as arguments, one per line, each once; those with `unless:COMMAND`
# only where there is no such command.
packages_of() {
  awk -v wanted="$*" '
    BEGIN { split(wanted, names, " "); for (i in names) want[names[i]] = 1 }
    { sub(/#.*/, "") }
    NF >= 2 {
      count = split($2, roles, ",")
      for (i = 1; i <= count; ++i) if (roles[i] in want) { print $1, $3; break }
    }' "$list" | while read -r package condition; do
    [[ $condition == unless:* ]] && command -v "${condition#unless:}" >/dev/null && continue
    echo "$package"
  done
}

all_roles() {
  awk '{ sub(/#.*/, "") } NF >= 2 { gsub(",", "\n", $2); print $2 }' "$list" | sort -u | paste -sd' '
}

# Without apt-get, or without the right to use it, we can only say what is needed and look whether
# a build has a chance.
by_hand() {
  {
    echo "setup: $1; the Debian names of what is needed (skip what you have):"
    echo "${*:2}" | fold -s -w 96 | sed 's/^/  /'
  } >&2
  command -v cmake >/dev/null || { echo "setup: there is no cmake" >&2; exit 1; }
  command -v c++ >/dev/null || command -v g++ >/dev/null || command -v clang++ >/dev/null || {
    echo "setup: there is no C++ compiler" >&2
    exit 1
  }
  exit 0
}

roles="$(all_roles)"
if (($# == 0)); then
  echo "usage: tools/setup.sh ROLE...   (roles: $roles)" >&2
  exit 2
fi
for role in "$@"; do
  if [[ " $roles " != *" $role "* ]]; then
    echo "setup: no role '$role' in tools/packages.txt (roles: $roles)" >&2
    exit 2
  fi
done

mapfile -t wanted < <(packages_of "$@")
command -v apt-get >/dev/null || by_hand "no apt-get here" "${wanted[@]}"

# dpkg-query fails when it does not know one of the names: that is an answer, not an error.
installed="$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${wanted[@]}" 2>/dev/null || true)"
missing=()
for package in "${wanted[@]}"; do
  [[ $'\n'"$installed"$'\n' == *$'\n'"$package installed"$'\n'* ]] || missing+=("$package")
done
((${#missing[@]})) || exit 0

as_root=()
if ((EUID != 0)); then
  command -v sudo >/dev/null || by_hand "not root and no sudo" "${missing[@]}"
  as_root=(sudo)
fi

echo "Installing from Debian: ${missing[*]}"
log="$(mktemp)"
trap 'rm -f "$log"' EXIT
apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@" \
    </dev/null >>"$log" 2>&1
}
# A stale index may still be good enough. --no-remove: we never take a package away from anybody.
apt update || true
if ! apt install -y --no-install-recommends --no-remove "${missing[@]}"; then
  tail -n 20 "$log" >&2
  echo "setup: apt-get could not install: ${missing[*]}" >&2
  if grep -q 'remove is disabled' "$log"; then
    echo "setup: they exclude a package you have (often another libboost*-dev); remove it first" >&2
  fi
  exit 1
fi
