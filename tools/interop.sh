#!/usr/bin/env bash
# The real counterparts that have to be built: kubectl, kube-apiserver, and our programs written with client-go,
# controller-runtime and cel-go, all of Kubernetes v1.37.
# They come as Go modules, are built one at a time in a cache outside this repository, and a second run builds nothing.
# Arguments name what to build, as the list at the end has it. Without any it is all of them.
set -euo pipefail

version=${KUBERNETES_VERSION:-v1.37.1}
libraries=v0.${version#v1.}
cache=${XDG_CACHE_HOME:-$HOME/.cache}/hardpoint-interop
ours=$(cd "$(dirname "$0")/../tests/interop" && pwd)

if ! command -v go >/dev/null; then
  echo "interop: Go is not on PATH. Install Go 1.26 or newer, then run this again." >&2
  exit 1
fi

export GOFLAGS="-buildvcs=false -mod=mod -p=${INTEROP_JOBS:-2}"
export CGO_ENABLED=0

# Kubernetes names its own libraries as v0.0.0, to be found beside it. Ours are the published ones of the same release.
prepare_module() {
  local module=$cache/$version
  [ -e "$module/go.mod" ] && return
  mkdir -p "$module.new"
  cd "$module.new"
  local downloaded
  downloaded=$(go mod download -json "k8s.io/kubernetes@$version" | sed -n 's/^\t"GoMod": "\(.*\)",$/\1/p')
  {
    echo "module interop.hardpoint.example/kubernetes"
    sed -n 's/^\(go [0-9.]*\)$/\1/p; s/^\(godebug .*\)$/\1/p' "$downloaded"
    echo "require k8s.io/kubernetes $version"
    sed -nE "s|^\t(k8s.io/[a-z-]+) v0[.]0[.]0( .*)?\$|replace \1 => \1 $libraries|p" "$downloaded" | sort -u
  } >go.mod
  rm -rf "$module"
  mv "$module.new" "$module"
}

build_kubernetes() {
  local program=$1 target=$cache/bin/$1-$version
  if [ ! -x "$target" ]; then
    prepare_module
    echo "interop: building $program $version; the first time takes minutes"
    local stamp=""
    for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
      stamp+=" -X $package.gitVersion=$version -X $package.gitMajor=1 -X $package.gitMinor=37"
    done
    (cd "$cache/$version" && nice -n 15 go build -trimpath -ldflags "-s -w$stamp" \
      -o "$target" "k8s.io/kubernetes/cmd/$program")
  fi
  ln -sf "$program-$version" "$cache/bin/$program"
}

# Go itself knows whether anything changed.
build_ours() {
  (cd "$ours/$1" && nice -n 15 go build -mod=readonly -trimpath -o "$cache/bin/$1" .)
}

# controller-runtime's own example of a custom resource, in the version that our manager has.
build_example() {
  (cd "$ours/manager" && nice -n 15 go build -mod=readonly -trimpath -o "$cache/bin/$1" \
    sigs.k8s.io/controller-runtime/examples/crd)
}

mkdir -p "$cache/bin"
[ $# -gt 0 ] || set -- kubectl kube-apiserver informer election manager chaospods cel
for name in "$@"; do
  case $name in
    kubectl | kube-apiserver) build_kubernetes "$name" ;;
    informer | election | manager | cel) build_ours "$name" ;;
    chaospods) build_example "$name" ;;
    *)
      echo "interop: cannot build '$name'; it is one of kubectl, kube-apiserver, informer, election, manager, chaospods, cel" >&2
      exit 2
      ;;
  esac
done
