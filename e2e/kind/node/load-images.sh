#!/bin/sh
# Gives the node's containerd the images that kubeadm and the pod network ask for: all are one, and the pods' pause another.
set -eu
ctr="ctr --namespace=k8s.io images"
for archive in /kind/images/*.tar; do $ctr import "$archive"; done
while read -r name; do $ctr tag --force "$(cat /kind/images/parts)" "$name"; done < /kind/images/names
$ctr tag --force "$(cat /kind/images/pause)" "$(sed -n 's/.*sandbox_image = "\(.*\)".*/\1/p' /etc/containerd/config.toml)"
