"""OSC and SpatSC on a GPU, from samples to labels: ``OSC(device="cuda")``.

==========  =================================================================================================
pieces.py   the recursions in time, cut into pieces that a GPU follows all at once, exactly
``*.cu``    the kernels: one iteration is two passes over the state, with two thin products between
kernels.py  compiles and launches them; products.py does the products
sweeps.py   an iteration and its certificate, in arrays of either namespace
solver.py   the start from coarser samples, the loop
cut.py      coefficients to labels
==========  =================================================================================================

Nothing here imports CuPy before it is called, nor numba at all.
"""
