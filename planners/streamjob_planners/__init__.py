"""Pure planners for key-group placement: values in, a plan out; no clock, network, cluster or global chance."""
