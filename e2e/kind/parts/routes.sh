#!/bin/sh
# A pod network of routes: every node has its pods' addresses from Kubernetes, and knows the way to every other node's.
# One kubectl watches: one started every other second costs a sixth of a core on three nodes.
set -eu
nodes() {
  kubectl --server="https://$CONTROL_PLANE_ENDPOINT" --token="$(cat /var/run/secrets/kubernetes.io/serviceaccount/token)" \
    --certificate-authority=/var/run/secrets/kubernetes.io/serviceaccount/ca.crt get nodes --watch \
    --output='jsonpath={.status.addresses[?(@.type=="InternalIP")].address} {.spec.podCIDR}{"\n"}'
}
configure() {
  [ -e /etc/cni/net.d/10-routes.conflist ] && return
  cat > /etc/cni/net.d/.new <<CONFLIST
{"cniVersion": "1.0.0", "name": "routes", "plugins": [
  {"type": "ptp", "ipMasq": false, "ipam": {"type": "host-local", "dataDir": "/run/cni-addresses",
   "routes": [{"dst": "0.0.0.0/0"}], "ranges": [[{"subnet": "$1"}]]}},
  {"type": "portmap", "capabilities": {"portMappings": true}}]}
CONFLIST
  mv /etc/cni/net.d/.new /etc/cni/net.d/10-routes.conflist
}
while :; do
  nodes | while read -r address pods; do
    [ -n "$pods" ] || continue
    if [ "$address" = "$HOST_IP" ]; then configure "$pods"; else ip route replace "$pods" via "$address"; fi
  done || true
  sleep 2
done
