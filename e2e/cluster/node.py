"""A node: containerd, kubelet and kube-proxy as plain processes in a network of its own; the first has CoreDNS, too."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

from e2e.cluster import cgroups, leftovers, node_config, runtime
from e2e.cluster.node_config import Setting
from e2e.cluster.process import Process
from e2e.cluster.runtime import Runtime


class Node:
    """Starts and stops the programs of one node."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        setting.folder.mkdir(parents=True, exist_ok=True)
        self.runtime = Runtime(runtime.socket(setting.folder))
        self.containerd = self._process("containerd", node_config.containerd_command(setting))
        self._kubelet = self._process("kubelet", node_config.kubelet_command(setting))
        self._others = [self._process("kube-proxy", node_config.proxy_command(setting))]
        if setting.is_first:
            self._others.append(self._process("coredns", node_config.dns_command(setting)))

    def start(self, load: Callable[[Runtime], object]) -> None:
        """Start all, after `load` has brought the images in; raises DidNotStart. It is Ready a few seconds later."""
        _share_mounts()
        if self._setting.cgroup:
            cgroups.make(self._setting.cgroup)
        self._start_containerd()
        if self.runtime.forget_containers():  # of a cluster that crashed; the kubelet would still be told of them
            self.containerd.stop(grace_s=10.0)
            self._start_containerd()
        load(self.runtime)
        for one in (*self._others, self._kubelet):
            one.start()

    def stop(self) -> None:
        """Kubelet first, so that it starts nothing again; then what runs in containers; then the rest."""
        self._kubelet.stop()
        if self.containerd.pid is not None:
            self.runtime.forget_containers()
        for one in self._others:
            one.stop()
        self.containerd.stop(grace_s=10.0)
        leftovers.end(self._setting.folder)
        if self._setting.cgroup:
            cgroups.remove(self._setting.cgroup)

    def _start_containerd(self) -> None:
        self.containerd.start()
        self.containerd.wait_until(self.runtime.answers, 20.0)

    def _process(self, name: str, command: list[str]) -> Process:
        return Process(name, command, self._setting.folder / f"{name}.log")


def _share_mounts() -> None:
    """Pods' volumes must be seen by the kubelet and by containerd alike."""
    subprocess.run(["mount", "--make-rshared", "/"], check=True)
