"""The fast solver: streamed, threaded sweeps over time."""
