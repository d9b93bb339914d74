"""All peers in one place. They run in processes that import neither seqspan nor PyAV."""

from benchmarks.quality import change_points, states, tw_finch

METHODS = (*change_points.METHODS, *states.METHODS, *tw_finch.METHODS)
