#!/bin/sh
# Gives the node's containerd the images that kubeadm asks for: all are one image, and the pod's pause is another.
set -eu
ctr="ctr --namespace=k8s.io images"
for archive in /kind/images/*.tar; do $ctr import "$archive"; done
while read -r name; do $ctr tag --force localhost/kube-parts:node "$name"; done < /kind/images/names
$ctr tag --force localhost/pause:node "$(sed -n 's/.*sandbox_image = "\(.*\)".*/\1/p' /etc/containerd/config.toml)"
