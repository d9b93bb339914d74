"""The fast solver: multi-threaded sweeps over time, one block of atoms at a time."""
