"""The custom resource definitions, made from the models of the spec and the status."""
