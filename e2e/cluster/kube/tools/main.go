// Program tools is what a node of kind has beside Kubernetes itself: kubeadm, kubectl, and CoreDNS with the plugins that
// kubeadm configures. The name by which it is called says which one it is.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/coredns/coredns/coremain"
	"k8s.io/component-base/cli"
	kubectl "k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
	kubeadm "k8s.io/kubernetes/cmd/kubeadm/app"

	_ "github.com/coredns/coredns/plugin/cache"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/forward"
	_ "github.com/coredns/coredns/plugin/health"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/loadbalance"
	_ "github.com/coredns/coredns/plugin/log"
	_ "github.com/coredns/coredns/plugin/loop"
	_ "github.com/coredns/coredns/plugin/metrics"
	_ "github.com/coredns/coredns/plugin/ready"
	_ "github.com/coredns/coredns/plugin/reload"
)

func main() {
	switch name := filepath.Base(os.Args[0]); name {
	case "kubeadm":
		util.CheckErr(kubeadm.Run())
	case "kubectl":
		os.Exit(cli.Run(kubectl.NewDefaultKubectlCommand()))
	case "coredns":
		coremain.Run()
	default:
		fmt.Fprintf(os.Stderr, "%s: call this file as kubeadm, kubectl or coredns\n", name)
		os.Exit(2)
	}
}
