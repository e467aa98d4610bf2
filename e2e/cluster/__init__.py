"""A real Kubernetes control plane and a real Prometheus on machines that have package registries and nothing else."""
