"""Recordings: samples in order with their times, and views that show what a sample was."""

from __future__ import annotations

from seqspan._core.dates import Dates
from seqspan.recording.rates import sampling_rate as sampling_rate
from seqspan.recording.recording import KINDS as KINDS
from seqspan.recording.recording import LENGTH_UNITS as LENGTH_UNITS
from seqspan.recording.recording import Recording
from seqspan.recording.recording import as_recording as as_recording
from seqspan.recording.recording import default_names as default_names
from seqspan.recording.several import concatenate, resample_to, split_at_gaps
from seqspan.recording.views import FrameView, PoseView, SpectrumView
from seqspan.recording.views import View as View

__all__ = [
    "Dates", "FrameView", "PoseView", "Recording", "SpectrumView", "concatenate", "resample_to",
    "split_at_gaps",
]  # fmt: skip
