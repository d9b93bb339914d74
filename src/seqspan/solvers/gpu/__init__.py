"""OSC and SpatSC on a GPU: ``OSC(device="cuda")``.

===================  ========================================================================================
pieces.py            the recursions in time, cut into pieces that a GPU follows all at once, exactly ``*.cu``
the device functions: an iteration is two passes over the state, two thin products between device_functions.py
compiles and launches them; products.py does the products sweeps.py            an iteration and its
certificate, in arrays of either namespace solver.py            the start from coarser samples, the loop
===================  ========================================================================================

Nothing here imports CuPy before it is called, nor numba at all.
"""
