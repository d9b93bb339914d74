"""Where the real data sets are stored, and where to download them."""

from __future__ import annotations

import os
from os import PathLike
from pathlib import Path
from typing import TypeAlias

DataFolder: TypeAlias = str | PathLike[str] | None
VARIABLE = "SEQSPAN_DATA"  # environment variable with the folder of the data sets

SOURCES = {
    "tirlib": "TIRlib.mat from https://github.com/sjtrny/curveLRR (data/TIRlib.mat)",
    "video_bbb": (
        "the first 60 s of Big Buck Bunny (https://www.bigbuckbunny.org, CC BY 3.0) as "
        "big_buck_bunny_first60s.mp4, 640 x 360 at 24 frames per second, and labels.json; the clips A and B "
        "are its frames 200-499 and 330-629 as bbb_clipA_gray96x129.npz and bbb_clipB_gray96x129.npz, with "
        "frames (300, 96, 129) and cuts"
    ),
    "osc_paper_video_labels": (
        "cuts.csv, with the columns video,type,frame, from data/video/frame_data.xlsx in "
        "https://github.com/sjtrny/OSC"
    ),
    "cmu86": (
        "subject 86 of http://mocap.cs.cmu.edu: the AMC values as 86_01_amc62_120hz.npz (X, names, fps), the "
        "retargeted poses of https://github.com/LeeChunHei/CMU-Mocap-for-AMP-ASE as 86_XX_body15_60hz.npz, "
        "and the hand-made cuts of https://github.com/zhfe99/aca as groundtruth.json"
    ),
    "cmu_mocap6": (
        "mocap6.mat from https://github.com/michaelchughes/mocap6dataset; the motions in its folder amc as "
        "SS_TT_amc62_120hz.npz (X, names, fps, label10hz)"
    ),
    "hdm05_cuts": (
        "cut clips of HDM05 (https://resources.mpi-inf.mpg.de/HDM05, CC BY-SA 3.0) as hdm05_cuts_amc62.npz: "
        "clip000 and so on (T, 62), with actor, action and names"
    ),
    "keck_weizmann_hog": (
        "the features of https://github.com/wanglichenxj/"
        "Learning-Transferable-Subspace-for-Human-Motion-Segmentation (Datasets) as keck_person_N.npz and "
        "wei_person_N.npz with X (T, 324) and label (T,)"
    ),
    "actrectut": (
        "data.mat from https://github.com/Lab-ANT/Time2State (data/ActRecTut/subjectN_walk) as "
        "actrectut_subjectN_walk.mat"
    ),
    "hopkins": "NAME_truth.mat from Hopkins 155, http://www.vision.jhu.edu/data/hopkins155",
}


def find_file(folder: str, file: str, data: DataFolder) -> Path:
    """Return the path of a file of a data set; if it is missing, say what to download and where to put it."""
    root = data if data is not None else os.environ.get(VARIABLE)
    if root is None:
        raise FileNotFoundError(
            f"no folder for the data set {folder!r}: pass data= or set ${VARIABLE}. Its subfolder {folder!r} "
            f"must hold {SOURCES[folder]}."
        )
    path = Path(root) / folder / file
    if not path.is_file():
        raise FileNotFoundError(f"{path}: not found. Download {SOURCES[folder]}, and put it there.")
    return path
