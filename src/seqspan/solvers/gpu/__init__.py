"""OSC and SpatSC on a GPU: ``OSC(device="cuda")``.

===================  ========================================================================================
pieces.py            splits the recursions in time into pieces that a GPU solves in parallel, exactly
``*.cu``             the device functions: an iteration is two passes over the state, with two thin products
device_functions.py  compiles and launches the device functions
products.py          the thin products
sweeps.py            an iteration and its certificate, for NumPy or CuPy arrays
solver.py            the start from coarser samples, and the loop
===================  ========================================================================================

CuPy is imported only when a function here is called; numba is never imported.
"""
