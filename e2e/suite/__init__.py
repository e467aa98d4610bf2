"""The end-to-end suite: the chart, the operator and Spark jobs as pods of a real cluster. `make e2e` runs it."""
