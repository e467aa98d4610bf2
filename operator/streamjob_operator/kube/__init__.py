"""The body on Kubernetes: adapters of the cycle's ports to an API server and a Prometheus, and what runs them."""
