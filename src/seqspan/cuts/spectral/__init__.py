"""Labels from the graph of the coefficients, as in the paper."""
