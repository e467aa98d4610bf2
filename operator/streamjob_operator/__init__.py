"""The control loop of StreamJob and its bodies: standalone on a laptop, kopf on Kubernetes."""
